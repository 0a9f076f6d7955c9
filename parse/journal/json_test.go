package journal

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestJSONEntry(t *testing.T) {
	tests := []struct {
		name, line, msg, clock string
		who                    Who
		lost                   bool
	}{
		{"compact", `{"MESSAGE":"hello","_HOSTNAME":"n","SYSLOG_IDENTIFIER":"kubelet","_PID":"42","_SYSTEMD_UNIT":"kubelet.service","_BOOT_ID":"bb","__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"hello", "2023-11-14T22:13:21Z", Who{"n", "kubelet", "kubelet.service", "bb", 42}, false},
		{"old, spaced", `{ "__REALTIME_TIMESTAMP" : "1700000001000000", "_HOSTNAME" : "n", "MESSAGE" : "hello" }`,
			"hello", "2023-11-14T22:13:21Z", Who{Host: "n"}, false},
		{"bytes", `{"MESSAGE":[104,101,108,108,111,255],"__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"hello\xff", "2023-11-14T22:13:21Z", Who{}, false},
		{"repeated", `{"MESSAGE":["a","b"],"_PID":["7","8"],"__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"a\nb", "2023-11-14T22:13:21Z", Who{PID: 7}, false},
		{"null", `{"MESSAGE":null,"__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"", "2023-11-14T22:13:21Z", Who{}, true},
		{"source stamp first", `{"MESSAGE":"x","__REALTIME_TIMESTAMP":"1700000008000000","_SOURCE_REALTIME_TIMESTAMP":"1700000007123456"}`,
			"x", "2023-11-14T22:13:27.123456Z", Who{}, false},
		{"command for identifier", `{"MESSAGE":"x","_COMM":"runc","__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"x", "2023-11-14T22:13:21Z", Who{Ident: "runc"}, false},
		{"kernel", `{"MESSAGE":"x","_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"x", "2023-11-14T22:13:21Z", Who{Ident: "kernel"}, false},
		{"surrogates", `{"MESSAGE":"\ud83d\ude00 \u2603 \ud800","__REALTIME_TIMESTAMP":"1700000001000000"}`,
			"😀 ☃ \ufffd", "2023-11-14T22:13:21Z", Who{}, false},
		{"LogEntry", `{"insertId":"1","jsonPayload":{"MESSAGE":"x","_HOSTNAME":"n","SYSLOG_IDENTIFIER":"kubelet","_PID":"9"},"logName":"projects/p/logs/kubelet","resource":{"labels":{"node_name":"n2"}},"timestamp":"2024-01-01T01:00:00.5Z"}`,
			"x", "2024-01-01T01:00:00.5Z", Who{Host: "n", Ident: "kubelet", PID: 9}, false},
		{"LogEntry, text", `{"textPayload":"x","logName":"projects/p/logs/container-runtime","resource":{"labels":{"node_name":"n2"}},"timestamp":"2024-01-01T01:00:00Z"}`,
			"x", "2024-01-01T01:00:00Z", Who{Host: "n2", Ident: "container-runtime"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e Entry
			NewParser(&Framing{}).Parse([]byte(tt.line), &e)
			if tt.lost {
				if !e.Lost {
					t.Errorf("not lost: %+v", e)
				}
				return
			}
			if string(e.Msg) != tt.msg || at(e.Clock) != tt.clock || *e.Who != tt.who || e.Lost {
				t.Errorf("got %q at %s by %+v", e.Msg, at(e.Clock), *e.Who)
			}
		})
	}
}

// FuzzJSONString compares our decoding of strings with encoding/json.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n\"\\"`, `"\ud83d\ude00"`, `"\ud800x"`, `"é"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want string
		if len(raw) == 0 || raw[0] != '"' || !utf8.ValidString(raw) || json.Unmarshal([]byte(raw), &want) != nil {
			appendText(nil, []byte(raw))
			return
		}
		n := stringEnd([]byte(raw), 0)
		if got := string(appendText(nil, []byte(raw[:n]))); got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	})
}

// FuzzJSONObject checks that walking any bytes terminates and that the members of a
// valid object are those that encoding/json finds.
func FuzzJSONObject(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[1,"]"],"c":{"d":"}"},"e":null}`))
	f.Add([]byte(`{"a":"unfinished`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]bool{}
		each(b, func(k, v []byte) { got[string(appendUnescaped(nil, k))] = true })
		var want map[string]json.RawMessage
		if !utf8.Valid(b) || json.Unmarshal(b, &want) != nil {
			return
		}
		for k := range want {
			if !got[k] {
				t.Errorf("%s: no member %q", b, k)
			}
		}
	})
}
