package exports

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// TestLines: each record is cited with the line of the export that contains its
// message, whatever the layout.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		form := rapid.SampledFrom([]string{"one line", "lines", "pretty", "table", "yaml"}).Draw(t, "form")
		switch form {
		case "one line", "pretty":
			text.WriteString(`{"events":[`)
		case "table":
			text.WriteString("timestamp,message\n")
		}
		want := map[string]int{} // by the first word after the header
		for i := range rapid.IntRange(1, 40).Draw(t, "records") {
			name := fmt.Sprintf("record%d", i)
			line := strings.Replace(klog1, `"Skipping pod`, name+` "Skipping pod`, 1)
			message := line
			if several := rapid.IntRange(1, 3).Draw(t, "lines"); several > 1 && form != "yaml" {
				message += strings.Repeat("\n"+strings.Replace(klog2, "SyncLoop", name+"n SyncLoop", 1), several-1)
			}
			sep := ""
			if i > 0 {
				sep = ","
			}
			at := func() int { return strings.Count(text.String(), "\n") + 1 }
			switch form {
			case "one line":
				fmt.Fprintf(&text, `%s{"timestamp":1712913308000,"message":%s}`, sep, quoted(message))
				want[name] = at()
			case "lines":
				want[name] = at()
				fmt.Fprintf(&text, `{"_time":"2024-04-12T09:15:08Z","@message":%s}`+"\n", quoted(message))
			case "pretty":
				fmt.Fprintf(&text, "%s\n {\n  \"timestamp\": 1712913308000,\n", sep)
				want[name] = at()
				fmt.Fprintf(&text, "  \"message\": %s\n }", quoted(message))
			case "table":
				want[name] = at()
				fmt.Fprintf(&text, "2024-04-12T09:15:08Z,%s\n", cell(message))
			case "yaml":
				fmt.Fprintf(&text, "---\nlogName: projects/p/logs/kubelet\ntextPayload: |-\n")
				want[name] = at()
				fmt.Fprintf(&text, "  %s\ntimestamp: '2024-04-12T09:15:08Z'\n", message)
			}
		}
		if form == "one line" || form == "pretty" {
			text.WriteString("]}\n")
		}
		head := []byte(text.String())
		f := Detect(head)
		if f == None {
			t.Fatalf("%s is no export:\n%s", form, head)
		}
		r := NewReader(iotest.HalfReader(strings.NewReader(text.String())), head, f)
		out, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Size() != int64(text.Len()) {
			t.Errorf("read %d bytes of %d", r.Size(), text.Len())
		}
		found := 0
		for i, line := range strings.Split(string(out), "\n") {
			for name, at := range want {
				if strings.Contains(line, name+" ") {
					found++
					if got := int(r.Line(uint32(i + 1))); got != at {
						t.Errorf("%s: %s is cited on line %d, stands on line %d of\n%s", form, name, got, at, text.String())
					}
				}
			}
		}
		if found != len(want) {
			t.Errorf("%s: %d of %d records found in\n%s", form, found, len(want), out)
		}
	})
}

func TestLineMap(t *testing.T) {
	var m lineMap
	in := []int{0, 1, 2, 2, 2, 2, 3, 4, 4, 9, 9, 9, 10, 11, 40}
	for out, at := range in {
		m.add(out, at)
	}
	for out, at := range in {
		if got := m.of(out); got != at {
			t.Errorf("line %d comes of %d, want %d (%+v)", out, got, at, m)
		}
	}
	if m.of(len(in)) != 41 || lineMap(nil).of(7) != 7 {
		t.Error("lines that nobody added stand behind those before them")
	}
	var one lineMap
	for out := range 100000 {
		one.add(out, 0)
	}
	if len(one) > 2 {
		t.Errorf("%d spans for records that share a line", len(one))
	}
}
