package redact

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestStrange: text of kubelets, runtimes and kernels consists of known words; any other word is a
// name, wherever it occurs.
func TestStrange(t *testing.T) {
	for _, w := range strings.Fields(`skipping PodLifecycleEvent OOMKilled UIDs PVCs relisted containers ContainerStatus kubeGenericRuntimeManager nfs4 eth0 nvme0n1 x86 1h2m3s 948µs
		0xc42069ea20 6f2c0f4ab1d3 4780ad7 v1beta1 cgroupv2 stopped entries SIGKILL iSCSI eBPF overlayfs dockerd kworker rpc code Unavailable QoS IPv6 GiB 2562047h47m16 qz a1
		jbd2 overlay2 SHA512 amd64 python3 v2alpha1 20Nov2026 el9 fc39 SIGUSR1 tls10server HTTP2 MaxInt64 sda1 ttyS0 md127 avg300 func1 4780ad7e podStartE2EDuration UnauthenticatedHTTP2DOSMitigation SHA256WithRSA Int64Slice IPv4 RelistP99Over3s RelistOver10s 4m37 10min 64bit`) {
		if isStrange(w) {
			t.Errorf("%q is taken for a name", w)
		}
	}
	for _, w := range strings.Fields(`globexapp Acmeshop kestrel tanager7 podGlobex qzvqbcy Müller 支付 x2x4z q1w2e3r4 HARDSUGARX mylonazeta7 beeFactoryZor
		delta011 worker7 db01 pg12 web1a node5 Gateway3 ORDERS04 DeltaApp01 gateway4388Thing myApp22 cafe01 deadbeef01 feed123 deadbeefcafe`) {
		if !isStrange(w) {
			t.Errorf("%q is no word", w)
		}
	}
	for text, want := range map[string]string{
		`backend gave up on tanager`:                                `backend gave up on name-1`,
		`tanager-eu-7.service: failed`:                              `name-1.service: failed`,
		`%7Btanager%3A1%7D \x2dtanager`:                             `%7Bname-1%3A1%7D \x2dname-1`,
		`mysql -ptanager -x-tanager- y`:                             `mysql -name-2 -name-1- y`,
		`lost orders-01, 1.30.0-beta2 of 2026-Nov-01`:               `lost name-1, 1.30.0-beta2 of 2026-Nov-01`,
		`x: 1\nkind: Pod\ndelta011: y C:\node C:\tanager`:           `x: 1\nkind: Pod\nname-2: y C:\node C:\tname-1`,
		`task tanager:4711 blocked`:                                 `task name-1:4711 blocked`,
		`tanager_read+0x1d/0x70 [heronfs], heronfs_main.go:12`:      `tanager_read+0x1d/0x70 [name-1], name-1_main.go:12`,
		strings.Repeat("list-", 13) + "tanager":                     strings.Repeat("list-", 13) + "name-1",
		"gave up on " + strings.Repeat("xylqua", 50) + " now":       `gave up on name-1 now`,
		`the password of tanager was tanager, pod="shop/tanager-0"`: `the password of name-1 was name-1, pod="ns-1/pod-1"`,
	} {
		r := New(nil)
		r.Learn(text)
		r.Settle()
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestLongMail: a mail address is replaced as a whole, also one that is longer than RFC 5321 allows.
func TestLongMail(t *testing.T) {
	for _, n := range []int{1, 30, 60} {
		if got := redacted("to " + strings.Repeat("a-", n) + "b@list.test now"); got != "to mail-1 now" {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestLongWords: very long words and labels take no longer than others.
func TestLongWords(t *testing.T) {
	for _, s := range []string{strings.Repeat("AbCd", 1<<15), strings.Repeat("tanager-", 1<<13), strings.Repeat("tanager_", 1<<13)} {
		began := time.Now()
		r := New(nil)
		r.Learn(s)
		r.Settle()
		r.Text(s)
		if took := time.Since(began); took > 20*time.Second { // well below 1 s on an idle machine
			t.Errorf("%.20s… took %s", s, took)
		}
	}
}

// TestField: the words are sorted, and none is derivable from a stem.
func TestField(t *testing.T) {
	list := strings.Fields(fieldWords)
	if !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Error("field.txt is not sorted or holds a word twice")
	}
	for _, w := range list {
		if w != strings.ToLower(w) || len(w) < 2 {
			t.Errorf("field.txt: %q", w)
		}
	}
}

// TestKindIsUpgraded: a name first learned as a strange word gets the kind that its position
// reveals later.
func TestKindIsUpgraded(t *testing.T) {
	r := New(nil)
	r.Learn("waiting for tanager")
	r.Learn(`container "tanager" failed`)
	r.Settle()
	if got := r.Text("tanager"); got != "container-1" {
		t.Errorf("got %q", got)
	}
}

// TestStampInAPath checks that the time in the name of a file is kept, and a name beside it is not.
func TestStampInAPath(t *testing.T) {
	for path, kept := range map[string]bool{
		"metrics-2026-11-20T23:33:00Z.prom": true,
		"metrics-2026-11-20.prom":           true,
		"sosreport-2026-11-20-qxvtzpl":      false,
		"metrics-2026-11-20Tqxvtz.prom":     false,
		"payroll-2026":                      false,
	} {
		r := New(nil)
		r.Learn(path)
		if got := r.Path(path); (got == path) != kept {
			t.Errorf("%s: %s", path, got)
		}
	}
}
