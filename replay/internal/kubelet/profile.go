package kubelet

import (
	"cmp"
	"time"

	"github.com/plegforensics/plegforensics/pleg"
	"github.com/plegforensics/plegforensics/replay/internal/host"
	"github.com/plegforensics/plegforensics/replay/internal/version"
)

// GenericPeriod is the pause between relists of the generic generator.
const GenericPeriod = pleg.Period

// Given holds settings that the user states about the kubelet; they override the log. Zero values mean not
// given.
type Given struct {
	KubeletVersion                string // "v1.28.0" or "1.28"
	RelistThreshold, RelistPeriod time.Duration
}

// Profile describes the node's kubelet and how that is known.
type Profile struct {
	Version    string // "v1.28.0", "" if unknown
	VersionMin string // bounds by fingerprint if no line states it: "v1.21"
	VersionMax string
	Runtime    string       // "containerd 1.7.2", "" if unknown
	OS         string       // linux, windows, "" if unknown
	PLEG       string       // generic, evented, unknown
	Gates      map[int]bool // feature gate EventedPLEG by run, as far as lines state it
	Period     time.Duration
	Threshold  time.Duration
	RPCTimeout time.Duration // runtimeRequestTimeout
	Verbosity  int           // -v, -1 if unknown
	Basis      string        // in words: what is evidence and what is default
	Evidence   []host.Evidence

	ThresholdSet bool          // threshold set by option: overrides the lines
	Reporting    time.Duration // threshold by which the kubelet itself calls PLEG unhealthy
	TimeoutKnown bool          // RPCTimeout is stated, measured or confirmed; otherwise it is assumed and dates nothing
	most         time.Duration // upper bound of an unknown timeout, 0 if none
	slower       bool          // a call took longer than the default timeout allows
}

// VersionText returns the version in words, as precisely as it is known.
func (k *Profile) VersionText() string {
	switch {
	case k.Version != "":
		return k.Version
	case k.VersionMin == "":
		return k.VersionMax + " or earlier"
	case k.VersionMax == "":
		return k.VersionMin + " or later"
	case k.VersionMin == k.VersionMax:
		return k.VersionMin
	}
	return k.VersionMin + " to " + k.VersionMax
}

// CallTimeout returns runtimeRequestTimeout if it is known, else 0.
func (k *Profile) CallTimeout() time.Duration {
	if !k.TimeoutKnown {
		return 0
	}
	return k.RPCTimeout
}

// TimeoutMost is the longest timeout that kubelets are known to be configured with.
const TimeoutMost = 15 * time.Minute

// LongestCall returns runtimeRequestTimeout or, if it is unknown, an upper bound.
func (k *Profile) LongestCall() time.Duration { return cmp.Or(k.CallTimeout(), k.most, TimeoutMost) }

// Hangs returns how long a call may hang before a line reports it: the timeout or, if it is unknown, its
// default, unless another bound is proven.
func (k *Profile) Hangs() time.Duration {
	if k.slower {
		return k.LongestCall()
	}
	return min(k.RPCTimeout, k.LongestCall())
}

// Since reports whether the kubelet is known to be of 1.minor or later.
func (k *Profile) Since(minor int) bool {
	m, ok := version.Minor(cmp.Or(k.Version, k.VersionMin))
	return ok && m >= minor
}

// Before reports whether the kubelet is known to be older than 1.minor.
func (k *Profile) Before(minor int) bool {
	return version.OlderThan(cmp.Or(k.Version, k.VersionMax), minor)
}

// Timeouts reports whether d, in ns, is a whole number of timeouts, at least one, plus less than 2 s: one or
// more consecutive calls that hit their deadline.
func (k *Profile) Timeouts(d int64) bool {
	t := int64(k.CallTimeout())
	return t != 0 && d >= t && d%t < int64(2*time.Second)
}

// MayTimeOut reports whether a call that took so long, in ns, may have hit its deadline. If the timeout is unknown,
// it may be any round value that people set.
func (k *Profile) MayTimeOut(took int64) bool {
	if t := int64(k.CallTimeout()); t != 0 {
		return took >= t && took < t+int64(2*time.Second)
	}
	return took > int64(2*RoundTimeout) && took%int64(RoundTimeout) < int64(timeoutLate)
}

// EventedSends reports whether evented PLEG is on in a version in which it sends events itself and generic PLEG
// relists rarely: up to 1.36. Later versions only use it to request relists of single pods. Without a version,
// the best known behavior is assumed.
func (k *Profile) EventedSends() bool {
	if k.PLEG != "evented" {
		return false
	}
	p, err := pleg.New(cmp.Or(k.Version, k.VersionMin))
	return err != nil || p.Has(pleg.EventedSends) || !p.Has(pleg.EventedAvailable)
}

// OnDemandRelists reports whether the kubelet may relist single pods between relists of the node: from 1.36 on.
func (k *Profile) OnDemandRelists() bool {
	p, err := pleg.New(cmp.Or(k.Version, k.VersionMax))
	return err != nil || p.Has(pleg.OnDemandRelist)
}

// PLEGUnknown is the value of Profile.PLEG if nothing shows whether evented PLEG is on.
const PLEGUnknown = "unknown"
