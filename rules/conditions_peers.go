package rules

import (
	"regexp"
	"strconv"
	"time"

	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/replay"
)

// gaveUp matches a call to the API server that timed out, as printed by client-go and
// net/http.
var gaveUp = regexp.MustCompile(`Client\.Timeout|context deadline exceeded|TLS handshake timeout|i/o timeout`)

// apiSlow is the mean duration from which calls to the API server count as slow too. They
// normally take milliseconds.
const apiSlow = 5 * time.Second

// evalBothSlow finds that the kubelet's calls to the API server were as slow as those to
// the runtime, none of which timed out. If both are slow, neither is shown to be the
// culprit: it may be the kubelet itself.
func evalBothSlow(s *subject, _ map[string]string) outcome {
	from, to := s.reachOf(s.fails)
	if len(s.failures.of(map[string]string{"code": "DeadlineExceeded|operation timeout|Canceled"}, from, to)) > 0 {
		return notThere()
	}
	var late []*parse.Event
	for i, e := range s.inWindow(parse.SigAPI) {
		if i == parse.Many {
			s.unread[parse.SigAPI] = e
			break
		}
		if gaveUp.MatchString(e.Quote()) {
			late = append(late, e)
		}
	}
	if len(late) > 1 {
		return found(events("", late...)...).telling(map[string]string{"calls": strconv.Itoa(len(late)) + " calls to the API server got no answer in time"})
	}
	for _, t := range s.slowTimes() {
		if calls, sum, ev := s.apiDuring(&t); calls > 0 && sum/time.Duration(calls) >= apiSlow {
			o := found(ev...).telling(map[string]string{"calls": strconv.Itoa(calls) + " calls to the API server took " + parse.Short(sum)})
			o.source = string(parse.SrcMetrics)
			return o
		}
	}
	if !s.have[parse.SrcKubelet] && len(s.series[apiSeconds+"_sum"]) == 0 {
		return cannotLook()
	}
	return notThere()
}

// apiSeconds is the histogram of the durations of the kubelet's calls to the API server,
// from client-go 1.14 on.
const apiSeconds = "rest_client_request_duration_seconds"

// apiDuring sums up the calls to the API server that ended in the metrics steps that
// overlap a slow time.
func (s *subject) apiDuring(t *slowTime) (calls int, sum time.Duration, ev []replay.Evidence) {
	grown := func(name string) (v float64) {
		for _, m := range s.series[name] {
			before, grew := parse.Point{}, 0.
			for p := range m.Samples() {
				if before.Src != nil && p.At > t.from && before.At < t.to && p.V > before.V {
					grew += p.V - before.V
					if name == apiSeconds+"_sum" {
						ev = append(ev, replay.Evidence{Record: m.Cite(p)})
					}
				}
				before = p
			}
			v += grew
		}
		return v
	}
	sum = time.Duration(grown(apiSeconds+"_sum") * float64(time.Second))
	return int(grown(apiSeconds + "_count")), sum, ev[:min(len(ev), keepMax)]
}
