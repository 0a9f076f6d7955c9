package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser finds a Chromium or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	if os.Getenv("PLEGFORENSICS_BROWSER") == "" {
		t.Skip("PLEGFORENSICS_BROWSER is not set: the gate sets it")
	}
	for _, name := range []string{os.Getenv("PLEGFORENSICS_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here")
	return ""
}

// visit is one open page and what went wrong on it.
type visit struct {
	context.Context
	mu       sync.Mutex
	errors   []string
	requests []string
}

// open loads a page with the network off and collects every console error and
// every request that is not the page itself.
func open(t *testing.T, page string, width, height int64) *visit {
	t.Helper()
	// Not t.TempDir: the browser may still write while it dies.
	profile, err := os.MkdirTemp("", "plegforensics-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.UserDataDir(profile))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(cancelTime)
	s := &visit{Context: ctx}
	chromedp.ListenTarget(ctx, s.note)
	err = chromedp.Run(ctx, network.Enable(), log.Enable(), network.EmulateNetworkConditions(true, 0, -1, -1),
		emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		chromedp.Navigate("file://"+page), chromedp.WaitReady(`html[data-ready="1"]`, chromedp.ByQuery))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *visit) note(ev any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := ev.(type) {
	case *cdpruntime.EventExceptionThrown:
		s.errors = append(s.errors, e.ExceptionDetails.Error())
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.APITypeError {
			s.errors = append(s.errors, fmt.Sprint(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			s.errors = append(s.errors, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file://") && !strings.HasPrefix(e.Request.URL, "blob:") && !strings.HasPrefix(e.Request.URL, "data:") {
			s.requests = append(s.requests, e.Request.URL)
		}
	}
}

func (s *visit) clean(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errors) > 0 {
		t.Errorf("console errors: %q", s.errors)
	}
	if len(s.requests) > 0 {
		t.Errorf("requests: %q", s.requests)
	}
}

func (s *visit) eval(t *testing.T, js string, out any) {
	t.Helper()
	if err := chromedp.Run(s, chromedp.Evaluate(js, out, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) })); err != nil {
		t.Fatalf("%s: %v", js, err)
	}
}

// reportPage makes the HTML report of a sample.
func reportPage(t *testing.T, sample string) string {
	t.Helper()
	browser(t)
	page := filepath.Join(t.TempDir(), "report.html")
	cmd := exec.Command("go", "run", "./cmd/plegforensics", "analyze", "--quiet", "--year", "2026", "-o", "html="+page, filepath.Join("samples", sample, "kubelet.log"))
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return page
}

// TestPage uses the report of a hang as a reader would.
func TestPage(t *testing.T) {
	s := open(t, reportPage(t, "hang-list"), 1440, 1000)
	var verdict string
	s.eval(t, `document.querySelector(".status").textContent`, &verdict)
	if verdict != "unhealthy" {
		t.Errorf("verdict %q", verdict)
	}
	var before, after string
	s.eval(t, `document.getElementById("from").value`, &before)
	if err := chromedp.Run(s, chromedp.Click("#episode"), chromedp.Sleep(100*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	s.eval(t, `document.getElementById("from").value`, &after)
	if before == after {
		t.Error("zooming to the episode changes nothing")
	}
	// The keyboard works too.
	if err := chromedp.Run(s, chromedp.Focus("#canvas"), chromedp.KeyEvent("+"), chromedp.Sleep(50*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var zoomed string
	s.eval(t, `document.getElementById("from").value`, &zoomed)
	if zoomed == after {
		t.Error("the + key does not zoom")
	}
	if err := chromedp.Run(s, chromedp.KeyEvent("0")); err != nil {
		t.Fatal(err)
	}
	clickMark(t, s)
	filterPods(t, s)
	shareLink(t, s)
	s.clean(t)
}

// clickMark clicks through the canvas until a mark answers with a quoted line,
// then finds that line by its number.
func clickMark(t *testing.T, s *visit) {
	t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	s.eval(t, `(()=>{const r=document.getElementById("canvas").getBoundingClientRect();window.scrollTo(0,r.top+scrollY-10);const q=document.getElementById("canvas").getBoundingClientRect();return {X:q.left,Y:q.top,Width:q.width,Height:q.height}})()`, &box)
	for y := box.Y + 30; y < box.Y+min(box.Height, 900); y += 11 {
		for x := box.X + 160; x < box.X+box.Width-10; x += 37 {
			if err := chromedp.Run(s, chromedp.MouseClickXY(x, y)); err != nil {
				t.Fatal(err)
			}
			var text, where string
			s.eval(t, `document.getElementById("details-text").textContent`, &text)
			if text == "" {
				continue
			}
			s.eval(t, `document.getElementById("details-where").textContent`, &where)
			if !strings.Contains(where, "kubelet.log:") {
				t.Errorf("mark quotes %q at %q", text, where)
			}
			return
		}
	}
	t.Error("no mark answers a click with its line")
}

func filterPods(t *testing.T, s *visit) {
	t.Helper()
	var rows int
	s.eval(t, `(()=>{const p=document.getElementById("pod");p.value="no such pod";p.dispatchEvent(new Event("input"));return new Promise(r=>setTimeout(()=>r(document.getElementById("canvas").height),80))})()`, &rows)
	var all int
	s.eval(t, `(()=>{const p=document.getElementById("pod");p.value="";p.dispatchEvent(new Event("input"));return new Promise(r=>setTimeout(()=>r(document.getElementById("canvas").height),80))})()`, &all)
	if rows >= all {
		t.Errorf("filtering by pod leaves %d pixels of %d", rows, all)
	}
}

func shareLink(t *testing.T, s *visit) {
	t.Helper()
	var from string
	s.eval(t, `(()=>{location.hash="#t=2026-11-20T23:33:00.000Z,2026-11-20T23:34:00.000Z";return new Promise(r=>setTimeout(()=>r(document.getElementById("from").value),120))})()`, &from)
	if from != "2026-11-20T23:33:00.000Z" {
		t.Errorf("a shared link shows %s", from)
	}
}

// TestNarrow: nothing is wider than a telephone.
func TestNarrow(t *testing.T) {
	s := open(t, reportPage(t, "stuck-pods"), 390, 844)
	var over int
	s.eval(t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`, &over)
	if over > 0 {
		t.Errorf("the page is %d px wider than the screen", over)
	}
	s.clean(t)
}

// TestAccessible checks what a screen reader and a keyboard need: names for all
// controls, headings in order, text that stands out from its ground.
func TestAccessible(t *testing.T) {
	s := open(t, reportPage(t, "hang-list"), 1440, 1000)
	for _, scheme := range []string{"light", "dark"} {
		if err := chromedp.Run(s, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})); err != nil {
			t.Fatal(err)
		}
		var problems []string
		s.eval(t, audit, &problems)
		for _, p := range problems {
			t.Errorf("%s: %s", scheme, p)
		}
	}
	s.clean(t)
}

// audit is the part of the accessibility rules that a report can break.
const audit = `(() => {
const out = [];
const lum = c => { const [r,g,b] = c.map(v => { v /= 255; return v <= 0.03928 ? v/12.92 : ((v+0.055)/1.055)**2.4; }); return 0.2126*r+0.7152*g+0.0722*b; };
const rgb = s => s.match(/[\d.]+/g).map(Number);
const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0,3); } return [255,255,255]; };
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || ["SCRIPT","STYLE","OPTION"].includes(e.tagName)) continue;
  const f = lum(rgb(getComputedStyle(e).color).slice(0,3)), b = lum(ground(e));
  const ratio = (Math.max(f,b)+0.05)/(Math.min(f,b)+0.05);
  if (ratio < 4.5) out.push("contrast " + ratio.toFixed(2) + " of " + e.tagName + " " + e.textContent.trim().slice(0,40));
}
for (const e of document.querySelectorAll("input,select,button,canvas,[role=region]")) {
  const name = e.getAttribute("aria-label") || e.textContent.trim() || [...(e.labels||[])].map(l => l.textContent.trim()).join("");
  if (!name) out.push("no name: " + e.outerHTML.slice(0,80));
}
let level = 0;
for (const h of document.querySelectorAll("h1,h2,h3,h4,h5,h6")) { const l = +h.tagName[1]; if (l > level+1) out.push("heading jumps to " + h.tagName + ": " + h.textContent); level = l; }
if (document.querySelectorAll("h1").length !== 1) out.push("not exactly one h1");
if (!document.documentElement.lang || !document.title) out.push("no language or title");
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) out.push("id twice: " + id);
for (const e of document.querySelectorAll("[aria-describedby],[aria-labelledby]")) for (const id of (e.getAttribute("aria-describedby")||e.getAttribute("aria-labelledby")).split(" ")) if (!document.getElementById(id)) out.push("refers to nothing: " + id);
for (const t of document.querySelectorAll("table")) if (!t.querySelector("th[scope]")) out.push("table without header cells");
return [...new Set(out)];
})()`
