package hostile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"time"
)

var stamp = time.Date(2021, 3, 13, 16, 0, 0, 0, time.UTC)

// header is a tar header block; its fields are written unchecked.
type header struct {
	name, link string
	typ        byte
	size       string // verbatim size field; if "", n in octal
	n          int64
	badSum     bool
}

func (h header) block() []byte {
	b := make([]byte, 512)
	copy(b, h.name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	size := h.size
	if size == "" {
		size = fmt.Sprintf("%011o\x00", h.n)
	}
	copy(b[124:136], size)
	copy(b[136:], fmt.Sprintf("%011o\x00", stamp.Unix()))
	b[156] = h.typ
	copy(b[157:257], h.link)
	copy(b[257:], "ustar\x0000")
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	if h.badSum {
		sum += 77
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// entry returns a header with its data, padded.
func (h header) entry(data []byte) []byte {
	if h.typ == 0 {
		h.typ = '0'
	}
	if h.n == 0 && h.size == "" {
		h.n = int64(len(data))
	}
	return append(h.block(), pad(data)...)
}

func pad(data []byte) []byte {
	out := bytes.Clone(data)
	for len(out)%512 != 0 {
		out = append(out, 0)
	}
	return out
}

// ok returns the readable log as an entry.
func ok(name string) []byte { return header{name: name}.entry(Log()) }

// archive joins entries and adds the end of the archive.
func archive(entries ...[]byte) []byte {
	return append(bytes.Join(entries, nil), make([]byte, 1024)...)
}

func tarCase(name string, entries ...func() []byte) Case {
	return fixed(name, LogLines, func() []byte {
		var out [][]byte
		for _, e := range entries {
			out = append(out, e())
		}
		return archive(append(out, ok("node/kubelet.log"))...)
	})
}

func raw(h header, data string) func() []byte {
	return func() []byte { return h.entry([]byte(data)) }
}

func tarCases() []Case {
	cases := []Case{
		tarCase("names-dotdot.tar", raw(header{name: "../../../../../../tmp/escaped"}, "x\n")),
		tarCase("names-dotdot-inside.tar", raw(header{name: "a/b/../../../../escaped"}, "x\n")),
		tarCase("names-absolute.tar", raw(header{name: "/etc/cron.d/escaped"}, "x\n")),
		tarCase("names-windows.tar", raw(header{name: `C:\Windows\escaped`}, "x\n"), raw(header{name: `..\..\escaped`}, "x\n")),
		tarCase("names-control.tar", raw(header{name: "a\x1b]0;owned\x07\x1b[2J\r\nb\x00c"}, "x\n"), raw(header{name: "x\u202egol.teleb"}, "x\n"),
			func() []byte { return header{name: "\x1b[31mkubelet\x1b[0m\n.log"}.entry(Log()) }, raw(header{name: "../\x1b[1m"}, "")),
		tarCase("link-out.tar", raw(header{name: "passwd", typ: '2', link: "/etc/passwd"}, "")),
		tarCase("link-up.tar", raw(header{name: "a/up", typ: '2', link: "../../../../etc/passwd"}, "")),
		tarCase("link-dir-then-file.tar", raw(header{name: "d", typ: '2', link: "/tmp"}, ""), raw(header{name: "d/escaped"}, "x\n")),
		tarCase("link-circle.tar", raw(header{name: "a", typ: '2', link: "b"}, ""), raw(header{name: "b", typ: '2', link: "c"}, ""), raw(header{name: "c", typ: '2', link: "a"}, "")),
		tarCase("link-self.tar", raw(header{name: "a", typ: '2', link: "a"}, "")),
		tarCase("hardlink-out.tar", raw(header{name: "h", typ: '1', link: "../../etc/shadow"}, "")),
		tarCase("hardlink-self.tar", raw(header{name: "h", typ: '1', link: "h"}, "")),
		tarCase("devices.tar", raw(header{name: "dev/zero", typ: '3'}, ""), raw(header{name: "dev/sda", typ: '4'}, "")),
		tarCase("fifo.tar", raw(header{name: "pipe", typ: '6'}, "")),
		tarCase("duplicates.tar", func() []byte { return ok("node/kubelet.log") }, func() []byte { return ok("node/kubelet.log") }),
		tarCase("size-lies-short.tar", func() []byte { return append(header{name: "short", n: 10}.block(), pad(Log())...) }),
		tarCase("size-negative.tar", raw(header{name: "neg", size: "-0000000001\x00"}, "")),
		tarCase("size-base256-overflow.tar", raw(header{name: "big", size: "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}, "")),
		tarCase("checksum-wrong.tar", func() []byte { return ok("node/first.log") }, raw(header{name: "bad", badSum: true}, "x\n")),
		tarCase("garbage-between.tar", func() []byte { return ok("node/first.log") }, func() []byte { return bytes.Repeat([]byte("garbage "), 512) }),
		tarCase("pax-size-lies.tar", raw(header{name: "PaxHeaders/x", typ: 'x'}, "30 size=99999999999999999999\n"), raw(header{name: "x"}, "x\n")),
		tarCase("pax-long-name.tar", raw(header{name: "PaxHeaders/x", typ: 'x'}, paxRecord("path", "a/"+strings.Repeat("long/", 1000)+"kubelet.log")), raw(header{name: "x"}, "x\n")),
		tarCase("pax-long-link.tar", raw(header{name: "PaxHeaders/x", typ: 'x'}, paxRecord("linkpath", strings.Repeat("../", 2000)+"etc/passwd")), raw(header{name: "x", typ: '2'}, "")),
		tarCase("pax-broken.tar", raw(header{name: "PaxHeaders/x", typ: 'x'}, "9999 path=x\n"), raw(header{name: "x"}, "x\n")),
		tarCase("pax-huge.tar", func() []byte {
			return header{name: "PaxHeaders/x", typ: 'x'}.entry([]byte(paxRecord("comment", strings.Repeat("c", 8<<20))))
		}),
		fixed("longname-lies.tar", LogLines, func() []byte {
			return append(ok("node/kubelet.log"), header{name: "././@LongLink", typ: 'L', size: "77777777777\x00"}.entry(Log())...)
		}),
		fixed("size-lies-long.tar", LogLines, func() []byte {
			return append(ok("node/kubelet.log"), header{name: "long.log", n: 1 << 40}.entry(Log())...)
		}),
		fixed("pax-chain.tar", LogLines, func() []byte {
			one := header{name: "PaxHeaders/x", typ: 'x'}.entry([]byte(paxRecord("comment", "c")))
			return archive(ok("node/kubelet.log"), bytes.Repeat(one, 50000))
		}),
		{Name: "sparse-4GiB.tar", Lines: LogLines, Build: func(w io.Writer) error { return sparse(w, 4<<30) }},
		{Name: "sparse-8EiB.tar", Lines: LogLines, Build: func(w io.Writer) error { return sparse(w, 1<<62) }},
		{Name: "members-million.tar.gz", Lines: LogLines, Build: million},
		{Name: "members-50000-logs.tar", Lines: LogLines, Quiet: true, Build: func(w io.Writer) error { return SmallLogs(w, 50_000) }},
	}
	for i := range cases {
		switch cases[i].Name {
		case "pax-chain.tar", "size-lies-short.tar":
			cases[i].Quiet = true // harmless: everything can be read
		}
	}
	return cases
}

func paxRecord(key, value string) string {
	size := len(key) + len(value) + 3
	for n := size; ; n++ {
		if s := fmt.Sprintf("%d %s=%s\n", n, key, value); len(s) == n {
			return s
		}
	}
}

// sparse writes an archive with a log that has a hole of the given size in the middle.
func sparse(w io.Writer, hole int64) error {
	log := Log()
	half := len(log) / 2
	size := hole + int64(len(log))
	m := fmt.Sprintf("2\n0\n%d\n%d\n%d\n", half, hole+int64(half), len(log)-half)
	data := append(pad([]byte(m)), log...)
	pax := paxRecord("GNU.sparse.major", "1") + paxRecord("GNU.sparse.minor", "0") +
		paxRecord("GNU.sparse.name", "node/sparse.log") + paxRecord("GNU.sparse.realsize", fmt.Sprint(size))
	_, err := w.Write(archive(
		header{name: "PaxHeaders/s", typ: 'x'}.entry([]byte(pax)),
		header{name: "GNUSparseFile/s"}.entry(data),
		ok("node/kubelet.log")))
	return err
}

// SmallLogs writes an archive with the readable log and n logs of one line.
func SmallLogs(w io.Writer, n int) error {
	if _, err := w.Write(ok("node/kubelet.log")); err != nil {
		return err
	}
	for i := range n {
		line := fmt.Sprintf("Mar 13 15:%02d:%02d node-1 kubelet[812]: I0313 15:%02d:%02d.%06d     812 kubelet.go:2456] \"SyncLoop (PLEG): event for pod\" pod=\"default/p-%d\" event={\"ID\":\"u\",\"Type\":\"ContainerStarted\",\"Data\":\"x\"}\n",
			30+i/60%20, i%60, 30+i/60%20, i%60, i, i)
		if _, err := w.Write(header{name: fmt.Sprintf("node-%d/kubelet.log", i)}.entry([]byte(line))); err != nil {
			return err
		}
	}
	_, err := w.Write(make([]byte, 1024))
	return err
}

// million writes an archive of 10^6 members, the readable log last.
func million(w io.Writer) error {
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	t := tar.NewWriter(z)
	for i := range 1000000 {
		h := tar.Header{Name: fmt.Sprintf("d/%07d", i), Size: 2, Mode: 0o644, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(&h); err != nil {
			return err
		}
		io.WriteString(t, "x\n")
	}
	if err := t.WriteHeader(&tar.Header{Name: "node/kubelet.log", Size: int64(len(Log())), Mode: 0o644, Typeflag: tar.TypeReg, ModTime: stamp}); err != nil {
		return err
	}
	t.Write(Log())
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}
