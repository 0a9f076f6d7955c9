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

// visit is an open page and the problems that occurred on it.
type visit struct {
	context.Context
	mu       sync.Mutex
	errors   []string
	requests []string
	frames   []cdpruntime.ExecutionContextID // execution contexts of frames in the page, newest last
}

// open loads a page with the network off and collects all console errors and all requests other
// than the page itself.
func open(t *testing.T, page string, width, height int64) *visit {
	t.Helper()
	// Not t.TempDir: the browser may still write while it shuts down.
	profile, err := os.MkdirTemp("", "plegforensics-browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser(t)), chromedp.NoSandbox,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-features", "IsolateSandboxedIframes,Translate"), // one target per page
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
	case *cdpruntime.EventExecutionContextCreated:
		if strings.Contains(string(e.Context.AuxData), `"isDefault":true`) {
			s.frames = append(s.frames, e.Context.ID)
		}
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

// inFrame evaluates JavaScript in the newest frame.
func (s *visit) inFrame(t *testing.T, js string, out any) {
	t.Helper()
	s.mu.Lock()
	id := s.frames[len(s.frames)-1]
	s.mu.Unlock()
	err := chromedp.Run(s, chromedp.Evaluate(js, out, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithContextID(id) }))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
}

// reportPage writes the HTML report of a sample and returns its path.
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
	if !strings.HasPrefix(verdict, "PLEG unhealthy") {
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

// clickMark clicks through the canvas until a mark shows a quoted line, then finds that line by its
// number.
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

// TestAddress: a link copied from a page with three nodes restores node, range, search, folded
// lanes and selected line. A node that is not in the report is named.
func TestAddress(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "report.html")
	args := []string{"run", "./cmd/plegforensics", "analyze", "--quiet", "--year", "2026", "-o", "html=" + page}
	for _, sample := range []string{"hang-list", "stuck-pods", "healthy"} {
		args = append(args, filepath.Join("samples", sample, "kubelet.log"))
	}
	browser(t)
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := open(t, page, 1440, 1000)
	const state = `[document.getElementById("node").selectedOptions[0].textContent,document.getElementById("from").value,document.getElementById("find").value,document.getElementById("details-where").textContent,String(document.querySelectorAll('.fold[aria-expanded=false]').length),document.getElementById("sum").textContent].join("|")`
	var before, after, link string
	s.eval(t, `(()=>{const set=(id,v,ev)=>{const e=document.getElementById(id);e.value=v;e.dispatchEvent(new Event(ev))};
const names=[...document.getElementById("node").options].map(o=>o.textContent);set("node",String(names.indexOf("worker-10")),"change");
document.getElementById("episode").click();set("find","DeadlineExceeded","input");document.getElementById("next").click();
[...document.querySelectorAll(".fold")].find(b=>b.textContent.startsWith("Relists")).click();
const c=document.getElementById("canvas");c.focus();c.dispatchEvent(new KeyboardEvent("keydown",{key:"]",bubbles:true}));
return new Promise(r=>setTimeout(()=>r(`+state+`),200))})()`, &before)
	s.eval(t, `location.href`, &link)
	if parts := strings.Split(before, "|"); parts[0] != "worker-10" || parts[2] != "DeadlineExceeded" || !strings.Contains(parts[3], ":") || parts[4] != "1" || parts[5] == "" {
		t.Errorf("state %q", before)
	}
	s.clean(t)
	fresh := open(t, strings.TrimPrefix(link, "file://"), 1440, 1000)
	fresh.eval(t, `new Promise(r=>setTimeout(()=>r(`+state+`),150))`, &after)
	if before != after {
		t.Errorf("the link opens\n%s, want\n%s", after, before)
	}
	fresh.clean(t)
	var says string
	s.eval(t, `(()=>{location.hash="#node=elsewhere";return new Promise(r=>setTimeout(()=>r(document.getElementById("unknown").hidden?"":document.getElementById("unknown").textContent),120))})()`, &says)
	if !strings.Contains(says, "elsewhere") {
		t.Errorf("an unknown node: %q", says)
	}
}

// TestRange: dragging selects and summarizes a range, and Escape clears it; searching the lines
// counts hits and steps through them.
func TestRange(t *testing.T) {
	s := open(t, reportPage(t, "hang-list"), 1440, 1000)
	var sum, cleared, hits string
	// The scale of the canvas is known once it has been drawn.
	s.eval(t, `new Promise(done=>requestAnimationFrame(()=>requestAnimationFrame(done))).then(()=>{const c=document.getElementById("canvas"),r=c.getBoundingClientRect(),at=(type,x)=>c.dispatchEvent(new PointerEvent(type,{bubbles:true,pointerId:1,pointerType:"mouse",clientX:r.left+x,clientY:r.top+60}));
c.setPointerCapture=()=>{};at("pointerdown",200);at("pointermove",300);at("pointermove",500);at("pointerup",500);return document.getElementById("sum").textContent})`, &sum)
	if !strings.Contains(sum, "relist") || !strings.Contains(sum, "kubelet: ") || !strings.Contains(sum, "ListPodSandbox: ") {
		t.Errorf("the range sums to %q", sum)
	}
	s.eval(t, `(()=>{document.dispatchEvent(new KeyboardEvent("keydown",{key:"Escape",bubbles:true}));dispatchEvent(new KeyboardEvent("keydown",{key:"Escape"}));return document.getElementById("sum").textContent})()`, &cleared)
	if cleared != "" {
		t.Errorf("Escape leaves %q", cleared)
	}
	s.eval(t, `(()=>{const f=document.getElementById("find");f.value="PLEG is not .*healthy";f.dispatchEvent(new Event("input"));document.getElementById("next").click();document.getElementById("next").click();return document.getElementById("hits").textContent})()`, &hits)
	if !strings.HasPrefix(hits, "2 of ") && !strings.Contains(hits, " of ") {
		t.Errorf("search says %q", hits)
	}
	s.clean(t)
}

// TestNarrow: nothing is wider than a phone screen.
func TestNarrow(t *testing.T) {
	s := open(t, reportPage(t, "stuck-pods"), 390, 844)
	var over int
	s.eval(t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`, &over)
	if over > 0 {
		t.Errorf("the page is %d px wider than the screen", over)
	}
	s.clean(t)
}

// TestHover: hovering over a mark shows its line, and the keyboard steps from mark to mark.
func TestHover(t *testing.T) {
	s := open(t, reportPage(t, "hang-list"), 1440, 1000)
	var tip string
	s.eval(t, `new Promise(done=>requestAnimationFrame(()=>requestAnimationFrame(done))).then(()=>{const c=document.getElementById("canvas"),r=c.getBoundingClientRect();
for(let y=30;y<r.height;y+=9)for(let x=200;x<r.width-10;x+=11){c.dispatchEvent(new PointerEvent("pointermove",{bubbles:true,pointerType:"mouse",clientX:r.left+x,clientY:r.top+y}));
const t=document.getElementById("tip-text").textContent;if(!document.getElementById("tip").hidden&&t)return t}return ""})`, &tip)
	if tip == "" {
		t.Error("no mark shows its line under the pointer")
	}
	var first, second string
	if err := chromedp.Run(s, chromedp.Focus("#canvas"), chromedp.KeyEvent("n"), chromedp.Text("#details-what", &first), chromedp.KeyEvent("n"), chromedp.Text("#details-what", &second)); err != nil {
		t.Fatal(err)
	}
	if first == second || !strings.Contains(second, ": ") {
		t.Errorf("n goes from %q to %q", first, second)
	}
	s.clean(t)
}

// TestFilters: filters by lane, pod and severity reduce the number of marks.
func TestFilters(t *testing.T) {
	s := open(t, reportPage(t, "hang-list"), 1440, 1000)
	var counts []int
	s.eval(t, `(()=>{const list=document.getElementById("listing");list.open=true;const n=()=>document.querySelectorAll("#marks tr").length;const out=[];
return new Promise(done=>setTimeout(()=>{out.push(n());
const set=(id,v,ev)=>{const e=document.getElementById(id);e.value=v;e.dispatchEvent(new Event(ev))};
set("pod","cache","input");out.push(n());set("severity","2","change");out.push(n());set("lane","relists","input");out.push(n());
document.getElementById("in").click();document.getElementById("in").click();document.getElementById("in").click();out.push(n());done(out)},80))})()`, &counts)
	for i := 1; i < len(counts); i++ {
		if counts[i] >= counts[i-1] {
			t.Errorf("marks in the list: %v, want fewer with each filter", counts)
		}
	}
	s.clean(t)
}

// TestSandbox: the report works in a frame that may only run scripts, which is how ticket systems
// show attachments.
func TestSandbox(t *testing.T) {
	page := reportPage(t, "hang-list")
	outer := filepath.Join(filepath.Dir(page), "outer.html")
	if err := os.WriteFile(outer, []byte(`<!DOCTYPE html><html data-ready="1"><title>outer</title><iframe sandbox="allow-scripts" src="report.html" width="1000" height="900"></iframe>`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, outer, 1200, 1000)
	var ready string
	for range 50 {
		s.inFrame(t, `document.documentElement.dataset.ready || ""`, &ready)
		if ready != "" {
			break
		}
		if err := chromedp.Run(s, chromedp.Sleep(100*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	if ready != "1" {
		t.Fatal("the page does not come up in a sandboxed frame")
	}
	var zoomed bool
	s.inFrame(t, `(()=>{const f=document.getElementById("from"),a=f.value;document.getElementById("in").click();return a!==f.value})()`, &zoomed)
	if !zoomed {
		t.Error("zooming does nothing in a sandboxed frame")
	}
	s.clean(t)
}

// TestAccessible checks the pages with axe-core, light and dark, wide and narrow: no serious or
// critical violations.
func TestAccessible(t *testing.T) {
	axe := axeSource(t)
	for _, sample := range []string{"hang-list", "stuck-pods", "healthy"} {
		page := reportPage(t, sample)
		for _, width := range []int64{1440, 390} {
			s := open(t, page, width, 900)
			// Open everything and select a mark, because hidden elements are not checked.
			s.eval(t, `document.querySelectorAll("details").forEach(d=>d.open=true);document.getElementById("canvas").focus();document.getElementById("canvas").dispatchEvent(new KeyboardEvent("keydown",{key:"n",bubbles:true}))`, nil)
			for _, scheme := range []string{"light", "dark"} {
				if err := chromedp.Run(s, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})); err != nil {
					t.Fatal(err)
				}
				s.eval(t, axe+";0", nil)
				var problems []string
				s.eval(t, `axe.run(document).then(r => r.violations.map(v => v.impact + ": " + v.id + ": " + v.help + ": " + v.nodes.map(n => n.html.slice(0, 100)).slice(0, 3).join(" ")))`, &problems)
				for _, p := range problems {
					if strings.HasPrefix(p, "serious") || strings.HasPrefix(p, "critical") {
						t.Errorf("%s, %d px, %s: %s", sample, width, scheme, p)
					} else {
						t.Logf("%s, %d px, %s: %s", sample, width, scheme, p)
					}
				}
			}
			s.clean(t)
		}
	}
}

// axeSource returns the source of the accessibility checker axe-core, which is not part of this
// repository: PLEGFORENSICS_AXE names its axe.min.js, which CI fetches by npm.
func axeSource(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PLEGFORENSICS_AXE")
	if path == "" {
		t.Skip("PLEGFORENSICS_AXE does not name axe.min.js of axe-core: the gate gets it where npm is")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestScreenshots writes pictures of the samples, wide and narrow, light and dark, and as seen with
// deuteranopia, to the directory PLEGFORENSICS_SCREENSHOTS, for visual inspection.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("PLEGFORENSICS_SCREENSHOTS")
	if dir == "" {
		t.Skip("PLEGFORENSICS_SCREENSHOTS names no directory")
	}
	for _, sample := range []string{"hang-list", "stuck-pods", "healthy", "frozen-kubelet"} {
		page := reportPage(t, sample)
		for _, width := range []int64{1440, 390} {
			s := open(t, page, width, 900)
			for _, scheme := range []string{"light", "dark", "deuteranopia"} {
				var png []byte
				if scheme == "deuteranopia" {
					if err := chromedp.Run(s, emulation.SetEmulatedVisionDeficiency(emulation.SetEmulatedVisionDeficiencyTypeDeuteranopia)); err != nil {
						t.Fatal(err)
					}
				}
				err := chromedp.Run(s, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
					chromedp.Sleep(150*time.Millisecond), chromedp.FullScreenshot(&png, 100))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", sample, width, scheme)), png, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestFleetPage: the page of a fleet of forty bundles lists the worst first, links to their
// reports, has working filters, and is never wider than the window.
func TestFleetPage(t *testing.T) {
	browser(t)
	dir := t.TempDir()
	args := []string{"run", "./cmd/plegforensics", "batch", "--quiet", "--year", "2026", "--out-dir", filepath.Join(dir, "out"), "--report", "html", "-o", "html=" + filepath.Join(dir, "fleet.html")}
	samples := []string{"healthy", "hang-list", "stuck-pods", "frozen-kubelet"}
	for i := range 40 {
		sample := samples[i%len(samples)]
		log, err := os.ReadFile(filepath.Join("../../samples", sample, "kubelet.log"))
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("bundle-%02d.log", i))
		text := string(log)
		for _, node := range []string{"ip-10-0-12-34.ec2.internal", "worker-10", "worker-33", "worker-1\""} {
			text = strings.ReplaceAll(text, node, fmt.Sprintf("node-%02d", i)+strings.Repeat("\"", strings.Count(node, "\"")))
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, width := range []int64{1440, 390} {
		s := open(t, filepath.Join(dir, "fleet.html"), width, 1000)
		var over, shown int
		var first, last, link string
		s.eval(t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`, &over)
		if over > 0 {
			t.Errorf("%d px: the page is %d px wider than the screen", width, over)
		}
		s.eval(t, `[...document.querySelectorAll(".fleet tbody tr")][0].dataset.status`, &first)
		s.eval(t, `[...document.querySelectorAll(".fleet tbody tr")].pop().dataset.status`, &last)
		if first != "unhealthy" || last != "healthy" {
			t.Errorf("first %s, last %s", first, last)
		}
		s.eval(t, `(()=>{const f=document.getElementById("status");f.value="healthy";f.dispatchEvent(new Event("change"));return [...document.querySelectorAll(".fleet tbody tr")].filter(r=>!r.hidden).length})()`, &shown)
		if shown != 10 {
			t.Errorf("%d healthy rows, want 10", shown)
		}
		s.eval(t, `document.querySelector(".fleet a").href`, &link)
		s.clean(t)
		open(t, strings.TrimPrefix(link, "file://"), width, 1000).clean(t)
	}
}
