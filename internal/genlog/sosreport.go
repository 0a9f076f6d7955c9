package genlog

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"time"
)

// WriteSosreport writes a sosreport of the node as a tar stream: opt.Bytes of the whole journal,
// the kubelet's lines as a journal of their own, and the small files that a report contains by the
// thousand.
func WriteSosreport(w io.Writer, opt Options) error {
	const top = "sosreport-worker-3-2026-03-10-genlogs/"
	t := tar.NewWriter(w)
	end, err := journalEnd(opt)
	if err != nil {
		return err
	}
	put := func(name string, size int64, write func(io.Writer) error) error {
		h := &tar.Header{Name: top + name, Mode: 0o600, Size: size, ModTime: end, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		return write(t)
	}
	for _, f := range sosFiles(end) {
		if err := put(f.name, int64(len(f.text)), func(w io.Writer) error { _, err := io.WriteString(w, f.text); return err }); err != nil {
			return err
		}
	}
	for _, j := range []struct {
		name string
		only []byte
	}{
		{"sos_commands/kubernetes/journalctl_--no-pager_--unit_kubelet", []byte(" kubelet[")},
		{"sos_commands/logs/journalctl_--no-pager", nil},
	} {
		var size counter
		if err := Write(&lines{w: &size, only: j.only}, opt); err != nil {
			return err
		}
		if err := put(j.name, int64(size), func(w io.Writer) error { return Write(&lines{w: w, only: j.only}, opt) }); err != nil {
			return err
		}
	}
	return t.Close()
}

// journalEnd returns the time of the journal's last line, to the second.
func journalEnd(opt Options) (time.Time, error) {
	var last lastLine
	if err := Write(&last, opt); err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.Stamp, string(last[:min(len(last), len(time.Stamp))]))
	return at.AddDate(start.Year(), 0, 0), err
}

type file struct{ name, text string }

// sosFiles returns the files of a report other than journals.
func sosFiles(end time.Time) []file {
	local, epoch := end.Format("2006-01-02 15:04:05.000000"), end.Unix()
	out := []file{
		{"version.txt", "sos report: 4.8.2\n"},
		{"sos_reports/manifest.json", fmt.Sprintf(`{"version": "4.8.2", "start_time": %q, "end_time": %q, "components": {"report": {"plugins": {"host": {"start_time": %q, "commands": [{"exec": "hostname", "filepath": "sos_commands/host/hostname", "return_code": 0, "start_time": %d.5, "end_time": %d.6}]}}}}}`+"\n",
			local, local, local, epoch, epoch)},
		{"sos_commands/date/date", end.Format(time.UnixDate) + "\n"},
		{"sos_commands/host/hostname", "worker-3.example.com\n"},
		{"sos_commands/host/uptime", " 10:00:00 up 3 days,  1:20,  1 user,  load average: 4.00, 3.50, 2.10\n"},
	}
	for i := range 1500 {
		out = append(out, file{fmt.Sprintf("proc/%d/limits", 2000+i), "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1048576              1048576              files\n"})
	}
	return out
}

// lines passes on the lines that contain only, or all lines if that is nil.
type lines struct {
	w    io.Writer
	only []byte
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	if l.only == nil {
		return l.w.Write(p)
	}
	l.rest = append(l.rest, p...)
	done := 0
	for {
		n := bytes.IndexByte(l.rest[done:], '\n') + 1
		if n == 0 {
			l.rest = append(l.rest[:0], l.rest[done:]...)
			return len(p), nil
		}
		if line := l.rest[done : done+n]; bytes.Contains(line, l.only) {
			if _, err := l.w.Write(line); err != nil {
				return 0, err
			}
		}
		done += n
	}
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// lastLine keeps the last line written to it.
type lastLine []byte

func (l *lastLine) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	end := len(bytes.TrimRight(*l, "\n"))
	if i := bytes.LastIndexByte((*l)[:end], '\n'); i >= 0 {
		*l = append((*l)[:0], (*l)[i+1:]...)
	}
	return len(p), nil
}
