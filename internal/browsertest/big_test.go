package browsertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// bigLog writes a kubelet log of n pod lifecycle events over an hour.
func bigLog(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubelet.log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(36 * time.Millisecond)
		fmt.Fprintf(w, "I%s    1234 kubelet.go:2305] \"SyncLoop (PLEG): event for pod\" pod=\"shop/cart-%d\" event={\"ID\":\"%08d-0000-4000-8000-000000000000\",\"Type\":\"Container%s\",\"Data\":\"%064x\"}\n",
			at.Format("0102 15:04:05.000000"), i%300, i%300, []string{"Started", "Died"}[i%2], i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBig: a report of 100,000 events opens and moves smoothly. The limits are for an otherwise
// idle machine; PLEGFORENSICS_LOADED relaxes them fourfold.
func TestBig(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	browser(t)
	page := filepath.Join(t.TempDir(), "report.html")
	cmd := exec.Command("go", "run", "./cmd/plegforensics", "analyze", "--quiet", "--year", "2026", "-o", "html="+page, bigLog(t, 100_000))
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	st, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() > 3<<20 {
		t.Errorf("the page has %d bytes", st.Size())
	}
	slower := 1.0
	if os.Getenv("PLEGFORENSICS_LOADED") != "" {
		slower = 4
	}
	s := open(t, page, 1440, 1000)
	var paint, worst float64
	s.eval(t, `performance.getEntriesByName("first-contentful-paint")[0].startTime`, &paint)
	s.eval(t, pan, &worst)
	t.Logf("%d bytes, first paint after %.0f ms, longest frame %.0f ms", st.Size(), paint, worst)
	if paint > 2000*slower {
		t.Errorf("first paint after %.0f ms", paint)
	}
	if worst > 100*slower {
		t.Errorf("a frame of %.0f ms while moving", worst)
	}
	if err := chromedp.Run(s, chromedp.Click("#in")); err != nil {
		t.Fatal(err)
	}
	s.clean(t)
}

// pan zooms and moves for sixty frames and returns the longest frame time.
const pan = `new Promise(done => {
const c = document.getElementById("canvas"); c.focus();
let n = 0, last = performance.now(), worst = 0;
const key = k => c.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true, cancelable: true}));
const step = t => { if (n > 2) worst = Math.max(worst, t - last); last = t; if (n++ > 60) return done(worst); key(n % 10 === 0 ? "-" : n % 3 ? "ArrowRight" : "+"); requestAnimationFrame(step); };
requestAnimationFrame(step); })`
