package parse

import (
	"fmt"
	"testing"
	"time"
)

func TestDatesIn(t *testing.T) {
	now := time.Date(2024, 9, 28, 8, 57, 39, 0, time.UTC)
	for text, want := range map[string]string{
		"since 2024-09-28T08:57:39.5Z on":                                     "2024-09-28 08:57:39.5 +0000 UTC",
		"Every 2.0s: kubectl get pods    n1: Sat Sep 28 08:57:39 2024":        "2024-09-28 08:57:39 +0000 UTC",
		"Sat Sep 28 08:57:39 UTC 2024":                                        "2024-09-28 08:57:39 +0000 UTC",
		"Sat Sep  7 08:57:39 CEST 2024":                                       "2024-09-07 08:57:39 +0000 UTC",
		"Sat 28 Sep 2024 08:57:39 PM UTC":                                     "2024-09-28 20:57:39 +0000 UTC",
		"Fri Sep 28 08:57:39 UTC 2024":                                        "", // it was a Saturday
		`journalctl -u kubelet --since "2024-09-28 05:00"`:                    "2024-09-28 00:00:00 +0000 UTC",
		"journalctl --since=2024-09-28 -u kubelet":                            "2024-09-28 00:00:00 +0000 UTC",
		"crictl logs --since-time=2024-09-28":                                 "2024-09-28 00:00:00 +0000 UTC",
		"journalctl --since yesterday":                                        "",
		"at time.Time{sec:63863110659, nsec:0x1f, loc:(*time.Location)(0x1)}": "2024-09-28 08:57:39 +0000 UTC",
		"at {wall:0 ext:63863110659 loc:0x1}":                                 "2024-09-28 08:57:39 +0000 UTC",
		fmt.Sprintf("at time.Time{wall:%#x, ext:77, loc:(*time.Location)(0x1)}", uint64(1)<<63|uint64(now.Unix()+yearSeconds(1970)-yearSeconds(1885))<<30|5): "2024-09-28 08:57:39 +0000 UTC",
		"at time.Time{wall:0x0, ext:0, loc:(*time.Location)(nil)}": "",
		"not before 0001-01-01T00:00:00Z and so on":                "",
	} {
		got := ""
		for _, d := range DatesIn(text) {
			got = d.Read.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestHeadingDate(t *testing.T) {
	for line, want := range map[string]bool{
		"Sat Sep 28 08:57:39 UTC 2024":                                      true,
		"Every 2.0s: kubectl get pods    n1: Sat Sep 28 08:57:39 2024":      true,
		" Built:             Sat Sep 28 08:57:39 2024":                      false,
		"Linux n1 5.4.0 #46-Ubuntu SMP Sat Sep 28 08:57:39 UTC 2024 x86_64": false,
		"Sat Sep 28 08:57:39 2024 /usr/bin/kubelet":                         false,
	} {
		if _, got := HeadingDate(line); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
