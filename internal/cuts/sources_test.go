package cuts

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mikelolasagasti/xz"
)

// sampleSources returns the samples, for which the kubelet's real behavior is not recorded.
func sampleSources(t *testing.T) (out []*source) {
	logs, _ := filepath.Glob("../../samples/*/kubelet.log")
	if len(logs) == 0 {
		t.Fatal("no samples")
	}
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &source{name: filepath.Base(filepath.Dir(log)), files: map[string]string{"kubelet.log": string(data)}})
	}
	return out
}

// captureSources returns the captures of real kubelets, if available.
func captureSources(t *testing.T) (out []*source) {
	dirs, _ := filepath.Glob("../../../shared/data/kubelets/*")
	runtimes, _ := filepath.Glob("../../../shared/data/real/*")
	for _, dir := range runtimes {
		if *cutsReal || mended[filepath.Base(dir)] != nil {
			dirs = append(dirs, dir)
		}
	}
	if testing.Short() {
		dirs = nil
	}
	for _, dir := range dirs {
		if s := captureSource(t, dir); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func captureSource(t *testing.T, dir string) *source {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			if data, err = os.ReadFile(filepath.Join(dir, name+".xz")); err != nil {
				return ""
			}
			r, err := xz.NewReader(bytes.NewReader(data), 0)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		return string(data)
	}
	s := &source{name: filepath.Base(dir), files: map[string]string{"kubelet.log": read("kubelet.log")}}
	if len(s.files["kubelet.log"]) > 8<<20 {
		return nil
	}
	if ok, _ := regexp.MatchString(*cutsOnly, s.name); !ok {
		return nil
	}
	if pack := read("metrics.tar"); pack != "" {
		for r := tar.NewReader(strings.NewReader(pack)); ; {
			h, err := r.Next()
			if err != nil {
				break
			}
			if strings.HasSuffix(h.Name, ".prom") {
				data, _ := io.ReadAll(r)
				s.files["metrics/"+filepath.Base(h.Name)] = string(data)
			}
		}
	}
	for _, name := range []string{"runtime.log", "dmesg.txt", "ps.txt"} { // of captures with real runtimes
		if text := read(name); text != "" {
			s.files[name] = text
		}
	}
	trace := read("relist_trace.jsonl")
	if trace == "" {
		return s // the kubelet's behavior was not recorded
	}
	var told struct {
		Causes  []string
		Version string
	}
	json.Unmarshal([]byte(read("truth.json")), &told)
	w := &truth{limit: 3 * time.Minute, causes: told.Causes, version: told.Version, evented: strings.Contains(s.name, "evented")}
	if len(w.causes) == 0 {
		w.causes = nil
	}
	var cur *ranRelist
	close := func() {
		if cur != nil {
			w.relists = append(w.relists, *cur)
		}
		cur = nil
	}
	for line := range strings.Lines(trace) {
		var e struct {
			Ev        string
			TS, Start time.Time
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		switch e.Ev {
		case "relist_begin":
			close()
			start := e.TS
			if !e.Start.IsZero() {
				start = e.Start
			}
			cur = &ranRelist{start: start.UnixNano()}
		case "getpods_ok":
			if cur != nil {
				cur.listLo, cur.listHi, cur.ok = e.TS.UnixNano(), e.TS.UnixNano(), true
			}
		case "getpods_err", "relist_getpods_error":
			if cur != nil {
				cur.listLo, cur.listHi, cur.ok = e.TS.UnixNano(), e.TS.UnixNano(), false
			}
		case "relist_end":
			if cur != nil {
				if cur.end = e.TS.UnixNano(); cur.listHi == 0 {
					cur.listLo, cur.listHi, cur.ok = cur.start, cur.end, true
				}
			}
			close()
		}
	}
	close()
	s.truth = w
	for line := range strings.Lines(s.files["kubelet.log"]) {
		if strings.Contains(line, "ubelet version") || strings.Contains(line, "] Version: v") {
			if at := lineTime(line); at != 0 {
				w.starts = append(w.starts, at)
			}
		}
	}
	if len(w.starts) > 0 {
		w.starts = w.starts[1:]
	}
	return s
}

var lineStamp = regexp.MustCompile(`^[IWEF](\d\d)(\d\d) (\d\d:\d\d:\d\d\.\d{6})|^\{"ts":(\d+)`)

func lineTime(line string) int64 {
	m := lineStamp.FindStringSubmatch(line)
	if m == nil {
		return 0
	}
	if m[4] != "" {
		var ms int64
		fmt.Sscan(m[4], &ms)
		return ms * 1e6
	}
	x, _ := time.Parse("2006-01-02T15:04:05.000000", "2026-"+m[1]+"-"+m[2]+"T"+m[3])
	return x.UnixNano()
}
