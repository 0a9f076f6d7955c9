package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse/bundle"
)

// Progress is shown on standard error if that is a terminal, once a run takes longer than wonder,
// and is erased before anything else is printed.
const (
	wonder  = time.Second
	refresh = 200 * time.Millisecond
)

// progressLine shows the progress of reading.
type progressLine struct {
	w     io.Writer
	width int
	of    *bundle.Progress
	begun time.Time
	stop  chan struct{}
	done  sync.WaitGroup
}

// showProgress starts showing the progress of reading; call end before anything else goes to
// standard error. It returns nil, on which end may be called too, if nobody would see it.
func showProgress(c *cli.Context, of *bundle.Progress) *progressLine {
	f := screen(c)
	if c.Bool("quiet") || f == nil {
		return nil
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	p := &progressLine{w: f, width: width, of: of, begun: time.Now(), stop: make(chan struct{})}
	p.done.Go(p.run)
	return p
}

func (p *progressLine) run() {
	select {
	case <-p.stop:
		return
	case <-time.After(wonder):
	}
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		fmt.Fprint(p.w, "\r\x1b[K"+p.text(time.Since(p.begun)))
		select {
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-tick.C:
		}
	}
}

// text returns one line that fits the terminal: bytes read and their total, the rate, the file.
func (p *progressLine) text(took time.Duration) string {
	read, total := p.of.Read.Load(), p.of.Total.Load()
	if total > 0 && read >= total {
		return "reading is done, putting it together"
	}
	s := report.Bytes(read)
	if total > 0 {
		s += fmt.Sprintf(" of %s (%d%%)", report.Bytes(total), read*100/total)
	}
	if rate := float64(read) / took.Seconds(); rate > 0 {
		s += ", " + report.Bytes(int64(rate)) + "/s"
	}
	var b strings.Builder
	fmt.Fprint(&stderr{&b}, strings.TrimRight(s+"  "+p.of.File(), " "))
	return short(b.String(), p.width-1)
}

// short cuts a line in the middle, so that its numbers and the end of the file name remain.
func short(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	head := min(44, width/2)
	return string(r[:head]) + "…" + string(r[len(r)-(width-head-1):])
}

// end erases the line.
func (p *progressLine) end() {
	if p != nil {
		close(p.stop)
		p.done.Wait()
	}
}
