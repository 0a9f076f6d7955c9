package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/plegforensics/plegforensics/internal/hostile"
	"github.com/plegforensics/plegforensics/parse"
	"github.com/plegforensics/plegforensics/parse/logs"
)

// loaded loads one input with the built-in signatures and returns its events as
// text.
func loaded(t *testing.T, in string) (*parse.Bundle, string) {
	t.Helper()
	b, err := Load(context.Background(), []string{in}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b, dump(b, false)
}

// textsOf returns the messages of all events, one per line, without NUL bytes.
func textsOf(b *parse.Bundle) string {
	var s strings.Builder
	for _, e := range b.Events {
		fmt.Fprintln(&s, strings.Trim(string(e.Message()), "\x00"))
	}
	return s.String()
}

// TestHoles: NUL bytes before, between and after the lines of a log lose no line,
// and cited offsets stay exact.
func TestHoles(t *testing.T) {
	log := testLog(900)
	plain, _ := loaded(t, file(t, "kubelet.log", log))
	cut := bytes.IndexByte(log[2000:], '\n') + 2001
	hole := func(n int) []byte { return make([]byte, n) }
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"8 KiB before", append(hole(8<<10), log...)},
		{"12 KiB before", append(hole(12<<10), log...)},
		{"700 KiB before", append(hole(700<<10), log...)},
		{"9 MiB before", append(hole(9<<20), log...)},
		{"64 KiB between", append(append(append([]byte{}, log[:cut]...), hole(64<<10)...), log[cut:]...)},
		{"a whole head between", slices.Concat(log[:cut], hole(headLen), log[cut:])},
		{"64 KiB behind", append(append([]byte{}, log...), hole(64<<10)...)},
	} {
		for _, wrap := range []func([]byte) string{
			func(b []byte) string { return file(t, "kubelet.log", b) },
			func(b []byte) string { return file(t, "x.tar.gz", gz(t, tarOf(t, entry{"node/kubelet.log", b}))) },
			func(b []byte) string { // identified by content
				return file(t, "y.tar.gz", gz(t, tarOf(t, entry{"a/output", b}, entry{"a/more", []byte("more\n")})))
			},
		} {
			path := wrap(tt.data)
			got, _ := loaded(t, path)
			if textsOf(got) != textsOf(plain) {
				t.Errorf("%s, %s: %d events, %d without the hole", tt.name, filepath.Base(path), len(got.Events), len(plain.Events))
			}
			for _, e := range got.Events {
				line := tt.data[e.Offset:]
				line = bytes.TrimLeft(line[:bytes.IndexByte(append(line, '\n'), '\n')], "\x00")
				if text := strings.TrimLeft(e.Text().String(), "\x00"); text != string(line) {
					t.Fatalf("%s: offset %d holds %.80q, not %.80q", tt.name, e.Offset, line, text)
				}
			}
		}
	}
	b, err := Load(context.Background(), []string{file(t, "kubelet.log", hole(3<<20))}, Options{})
	if err != nil || len(b.Warnings) != 1 || b.Warnings[0].Msg != whyHole {
		t.Errorf("nothing but NUL bytes: %v, %v", b.Warnings, err)
	}
}

// TestHolesOfKinds: a hole hides neither the kind of a file nor the framing of a
// log.
func TestHolesOfKinds(t *testing.T) {
	const klog = "E1120 23:44:30.100000    5203 kubelet.go:2448] PLEG is not healthy: pleg was last seen active 3m15.2s ago; threshold is 3m0s"
	docker := strings.Repeat(`{"log":"`+klog+`\n","stream":"stderr","time":"2026-11-20T23:44:30.2Z"}`+"\n", 9)
	syslog := strings.Repeat("Nov 20 23:44:30 n1 kubelet[5203]: "+klog+"\n", 9)
	few := "PLEG is not healthy: pleg was last seen active 3m15.2s ago; threshold is 3m0s\n"
	for name, text := range map[string]string{"docker": docker, "syslog": syslog, "cri": strings.Repeat("2026-11-20T23:44:30.2Z stderr F "+klog+"\n", 9), "few": few} {
		for _, at := range []int{0, strings.IndexByte(text, '\n') + 1} {
			data := slices.Concat([]byte(text[:at]), make([]byte, 64<<10), []byte(text[at:]))
			for _, wrap := range []func(b []byte) string{
				func(b []byte) string { return file(t, "output", b) },
				func(b []byte) string { return file(t, "x.tar", tarOf(t, entry{"output", b})) },
				func(b []byte) string {
					return file(t, "y.tar", tarOf(t, entry{"output", b}, entry{"more", []byte("more\n")}))
				},
			} {
				path := wrap([]byte(text))
				plain, _ := loaded(t, path)
				got, _ := loaded(t, wrap(data))
				if textsOf(got) != textsOf(plain) {
					t.Errorf("%s in %s, hole at %d: %d events, %d without", name, filepath.Base(path), at, len(got.Events), len(plain.Events))
				}
			}
		}
	}
}

// TestFlippedXZ: of a small xz file with one flipped bit, single-block or
// multi-block, as much is read as xz itself outputs, less at most one line.
func TestFlippedXZ(t *testing.T) {
	const line = 128
	log := hostile.Log()
	for len(log) < 200<<10 {
		log = append(log, testLog(50)...)
	}
	for _, args := range [][]string{{"-c"}, {"-c", "--block-size=32KiB"}} {
		packed := pipe(t, log, "xz", args...)
		for _, at := range []int{len(packed) / 8, len(packed) / 4, len(packed) / 2, len(packed) * 7 / 8} {
			bad := bytes.Clone(packed)
			bad[at] ^= 0x10
			xz := exec.Command("xz", "-dc")
			xz.Stdin = bytes.NewReader(bad)
			most, err := xz.Output()
			if err == nil || len(most) == 0 {
				t.Fatalf("xz %v of bit at %d: %v after %d bytes", args, at, err, len(most))
			}
			b, _ := loaded(t, file(t, "kubelet.log.xz", bad))
			if len(b.Files) != 1 || b.Files[0].Size < int64(len(most)-line) {
				t.Errorf("%v, bit at %d of %d: %d bytes are read, xz reads %d", args, at, len(packed), b.Files[0].Size, len(most))
			}
			if len(b.Warnings) == 0 {
				t.Errorf("%v, bit at %d: no warning", args, at)
			}
		}
	}
}

// TestSkippableFrames: skippable frames before the data hide neither lz4 nor zstd.
func TestSkippableFrames(t *testing.T) {
	log := testLog(300)
	plain, _ := loaded(t, file(t, "kubelet.log", log))
	frame := binary.LittleEndian.AppendUint32([]byte("\x52\x2a\x4d\x18"), 9000)
	frame = append(frame, make([]byte, 9000)...)
	var l bytes.Buffer
	lw := lz4.NewWriter(&l)
	lw.Write(log)
	lw.Close()
	zw, _ := zstd.NewWriter(nil)
	for name, packed := range map[string][]byte{"lz4": l.Bytes(), "zst": zw.EncodeAll(log, nil)} {
		got, _ := loaded(t, file(t, "kubelet.log."+name, append(append(bytes.Clone(frame), frame...), packed...)))
		if textsOf(got) != textsOf(plain) || len(got.Warnings) > 0 {
			t.Errorf("%s: %d events of %d, %v", name, len(got.Events), len(plain.Events), got.Warnings)
		}
		long := binary.LittleEndian.AppendUint32([]byte("\x52\x2a\x4d\x18"), 1<<32-16)
		if b, _ := loaded(t, file(t, "kubelet.log."+name, append(long, packed...))); !strings.Contains(warnings(b), "data is cut short: the skippable frame at byte 0 has ") {
			t.Errorf("%s: a frame longer than the file: %s", name, warnings(b))
		}
	}
}

// TestSnippet: a few lines of no known kind are read the same whether given as a
// file or as the only file of an archive or directory.
func TestSnippet(t *testing.T) {
	text := []byte("skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.123s ago; threshold is 3m0s]\nPLEG is not healthy: pleg was last seen active 3m15.2s ago; threshold is 3m0s\n")
	path := file(t, "snippet.txt", text)
	plain, want := loaded(t, path)
	if len(plain.Events) == 0 {
		t.Fatal("the file alone gives no events")
	}
	for _, in := range []string{
		file(t, "x.tar", tarOf(t, entry{"a/snippet.txt", text})), file(t, "x.tar.gz", gz(t, tarOf(t, entry{"snippet.txt", text}))),
		file(t, "x.zip", zipOf(t, entry{"snippet.txt", text})), filepath.Dir(path),
	} {
		if _, got := loaded(t, in); got != want {
			t.Errorf("%s gives\n%s, the file alone\n%s", in, got, want)
		}
	}
}

// TestDescribed: kubectl output about nodes is read the same whether the file is
// given itself or lies in a directory beside others.
func TestDescribed(t *testing.T) {
	const row = "  Ready  False  Fri, 20 Nov 2026 23:36:00 +0000  Fri, 20 Nov 2026 23:35:40 +0000  KubeletNotReady  PLEG is not healthy: pleg was last seen active 3m21.8s ago; threshold is 3m0s\n"
	for name, text := range map[string]string{
		"describe": "Name:               worker-1\nRoles:              worker\nConditions:\n" + row,
		"command":  "$ kubectl describe node worker-1\nName:               worker-1\nConditions:\n" + row,
		"table":    "NAME       STATUS     ROLES    AGE   VERSION\nworker-1   NotReady   worker   13h   v1.28.0\n",
	} {
		dir := t.TempDir()
		for n, s := range map[string]string{"node.txt": text, "notes.txt": "Name: nothing\nof a kind that is known\n"} {
			if err := os.WriteFile(filepath.Join(dir, n), []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		given, _ := loaded(t, filepath.Join(dir, "node.txt"))
		found, _ := loaded(t, dir)
		if len(given.Objects) != 1 || len(found.Objects) != 1 || textsOf(given) != textsOf(found) {
			t.Errorf("%s: given %d nodes and %q, in a directory %d and %q", name, len(given.Objects), textsOf(given), len(found.Objects), textsOf(found))
		}
		for _, f := range found.Files {
			if (f.Unused == "") != (f.Path == "node.txt") {
				t.Errorf("%s: %s: used: %t", name, f.Path, f.Unused == "")
			}
		}
	}
}

// TestForeign: unsupported formats are named, with advice what to do.
func TestForeign(t *testing.T) {
	lzma := append([]byte("\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00"), "xyz0123456789"...)
	script := "#!/bin/sh\n" + strings.Repeat("# what it does\n", 1000) + "tail -n +1003 \"$0\" | tar xf -\nexit 0\n"
	tarred := tarOf(t, entry{name: "kubelet.log"})
	pe := append([]byte("MZ\x90\x00"), make([]byte, 200)...)
	for _, tt := range []struct{ name, data, want string }{
		{"logs.tar.lzma", string(lzma), "xz -d"},
		{"logs.tar.lz", "LZIP\x01\x0c0123456789", "lzip -d"},
		{"logs.cab", "MSCF\x00\x00\x00\x00\x2c\x00", "cabextract"},
		{"logs.lzo", "\x89LZO\x00\r\n\x1a\n\x10\x40", "lzop -d"},
		{"System.evtx", "ElfFile\x00\x00\x00\x00\x00", "Get-WinEvent"},
		{"x.deb", "!<arch>\ndebian-binary   ", "dpkg-deb -x"},
		{"x.rpm", "\xed\xab\xee\xdb\x03\x00", "rpm2cpio"},
		{"x.cpio", "070701" + strings.Repeat("00000A81", 13) + "kubelet.log\x00", "cpio -id"},
		{"x.img", "hsqs\x05\x00\x00\x00", "unsquashfs"},
		{"logs.exe", string(pe), "extracts itself"},
		{"logs.elf", "\x7fELF\x02\x01\x01\x00\x00\x00", "extracts itself"},
		{"logs.run", "#!/bin/sh\n# This script was generated using Makeself 2.4.0\n\x1f\x8b\x08", "--noexec"},
		{"logs.run", script + "\x1f\x8b\x08\x00\x00\x00\x00\x00", "--noexec"},
		{"logs.run", script + "\xfd7zXZ\x00\x00\x04", "shell script that extracts"},
		{"logs.run", script + "BZh91AY&SY", "shell script that extracts"},
		{"logs.run", script + "\x28\xb5\x2f\xfd\x24", "shell script that extracts"},
		{"logs.run", script + "PK\x03\x04\x14\x00", "shell script that extracts"},
		{"logs.run", script + string(tarred), "shell script that extracts"},
		{"logs.sh", "#!/bin/bash\nARCHIVE=`awk '/^__ARCHIVE_BELOW__/ {print NR+1}' $0`\n", "unpack it first"},
	} {
		b, err := Load(context.Background(), []string{file(t, tt.name, []byte(tt.data))}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0].Msg, tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, b.Warnings, tt.want)
		}
	}
}

// TestEndToldOnce: a read error in mid-file gives exactly one warning, both for a
// log and for a file of no known kind.
func TestEndToldOnce(t *testing.T) {
	for name, text := range map[string]string{"log": string(testLog(3000)), "other": "nothing\nof any kind\n"} {
		in := io.MultiReader(strings.NewReader(text), broken{errors.New("the disk is gone")})
		b := load(t, Options{Stdin: in}, "-")
		told := 0
		for _, w := range b.Warnings {
			told += strings.Count(w.Msg, "the disk is gone")
		}
		if told != 1 {
			t.Errorf("%s: told %d times: %v", name, told, b.Warnings)
		}
	}
}

// TestFirstTarHeader: an archive with any one bit of its first header flipped is
// still read as an archive, with a warning, however far the next header is, and
// also as a stream. A log that contains a tar header is not an archive.
func TestFirstTarHeader(t *testing.T) {
	log := testLog(3000)
	for _, first := range []int{100, 200 << 10} {
		whole := tarOf(t, entry{"logs/notes.bin", bytes.Repeat([]byte{1}, first)}, entry{"a/kubelet.log", log}, entry{"b/kubelet.log", log})
		for bit := range tarBlock * 8 {
			damaged := bytes.Clone(whole[:tarBlock])
			damaged[bit/8] ^= 1 << (bit % 8)
			if !isTarHeader(damaged) && !likeTarHeader(damaged) {
				t.Fatalf("with bit %d of byte %d flipped it is no header", bit%8, bit/8)
			}
		}
		damaged := bytes.Clone(whole)
		damaged[130] ^= 0x10
		inputs := []string{file(t, "bundle.tar", damaged)}
		if first < 64<<10 {
			inputs = append(inputs, file(t, "bundle.tar.gz", gz(t, damaged)))
		}
		for _, in := range inputs {
			b, _ := loaded(t, in)
			var read int
			for _, f := range b.Files {
				if strings.HasSuffix(f.Path, "/kubelet.log") && f.Unused == "" {
					read++
				}
			}
			if read != 2 || len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Msg, "tar: ") {
				t.Errorf("%d bytes, %s: %d logs were read, warnings %v", first, filepath.Base(in), read, b.Warnings)
			}
		}
	}
	logThenTar := append(bytes.Clone(log[:20*tarBlock]), tarOf(t, entry{"x", log})...)
	if b, _ := loaded(t, file(t, "kubelet.log", logThenTar)); b.Inputs[0].Files != 1 {
		t.Errorf("a log before an archive is taken for %d files", b.Inputs[0].Files)
	}
}

// TestTarDamageTold: a warning about a damaged archive says where the damage is,
// which member it costs and where reading goes on.
func TestTarDamageTold(t *testing.T) {
	packed := tarOf(t, entry{"n/a.log", bytes.Repeat([]byte("I1120 23:40:31.801000    5203 x.go:1] a\n"), 100)}, entry{"n/b.log", []byte("b\n")})
	flipped := bytes.Clone(packed)
	flipped[110] ^= 2 // in the header
	for want, data := range map[string][]byte{
		`the header of "n/a.log" at byte 0 is damaged: what follows it is read as its data, to byte 4608`: flipped,
		`data is cut short at byte 3000 in "n/a.log", whose header is at byte 0;`:                         packed[:3000],
		`data is cut short in the header at byte 4608;`:                                                   packed[:4708],
	} {
		path := filepath.Join(t.TempDir(), "x.tar")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		b := load(t, Options{}, path)
		if len(b.Warnings) == 0 || !strings.Contains(b.Warnings[0].Msg, want) {
			t.Errorf("want %q, warnings %v", want, b.Warnings)
		}
	}
}

// TestTarHeaderDamaged: whatever byte of the header of a member is damaged, its data are
// read, and so is the member behind it. It may have an extension before it.
func TestTarHeaderDamaged(t *testing.T) {
	log := hostile.Log()
	for _, at := range []time.Time{time.Unix(1795000000, 0), time.Unix(1795000000, 500000000)} {
		var packed bytes.Buffer
		tw := tar.NewWriter(&packed)
		var heads []int
		for _, name := range []string{"n/notes.txt", "n/kubelet.log", "n/b.txt"} {
			data := map[bool][]byte{true: log, false: []byte("nothing\n")}[name == "n/kubelet.log"]
			h := &tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644, ModTime: at}
			if at.Nanosecond() > 0 {
				h.Format = tar.FormatPAX
			}
			if err := tw.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			heads = append(heads, packed.Len()-tarBlock)
			if _, err := tw.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := tw.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := tw.Close(); err != nil {
			t.Fatal(err)
		}
		whole, _ := loaded(t, file(t, "x.tar", packed.Bytes()))
		for i := range tarBlock {
			if i%16 != 0 && (i < 100 || i > 156) {
				continue
			}
			damaged := bytes.Clone(packed.Bytes())
			damaged[heads[1]+i] ^= 1 << (i % 7)
			b, _ := loaded(t, file(t, "x.tar", damaged))
			if len(whole.Events) == 0 || textsOf(b) != textsOf(whole) || len(b.Files) != 3 || len(b.Warnings) != 1 || !b.Inputs[0].Partial {
				t.Errorf("byte %d, extended %v: %d events of %d, %d files, %s", i, at.Nanosecond() > 0, len(b.Events), len(whole.Events), len(b.Files), warnings(b))
			}
		}
	}
}

// TestHolesTold: zeros inside a log are told as a place where lines are lost, those at its beginning
// are not, and the halves of two lines beside a hole are not one line. A compressed file behind
// zeros is read.
func TestHolesTold(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf("I1120 23:40:%02d.801000    5203 kubelet.go:1] line %d\n", i, i)
	}
	nothing := strings.Repeat("\x00", 500)
	text := line(1) + line(2)[:40] + nothing + line(3) + nothing + line(4)
	packed := func(s string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(s))
		z.Close()
		return b.String()
	}
	for what, c := range map[string]struct {
		data  string
		holes int
	}{
		"inside": {text, 2}, "at the beginning": {nothing + line(1) + line(2), 0}, "packed behind zeros": {nothing + packed(line(1)+line(2)), 0}, "packed": {packed(text), 2},
	} {
		path := filepath.Join(t.TempDir(), "kubelet.log")
		if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
		b := load(t, Options{newLines: textLogs(logs.Builtin())}, path)
		holes := 0
		for _, m := range b.Markers {
			if m.Kind == parse.MarkHole {
				holes++
				if !strings.HasPrefix(m.Text.String(), "I1120 23:40:0") || strings.Contains(m.Text.String(), "\x00") {
					t.Errorf("%s: the hole is before %q", what, m.Text.String())
				}
			}
		}
		if holes != c.holes || len(b.Files) != 1 || b.Files[0].Unused != "" {
			t.Errorf("%s: %d holes, want %d; %+v", what, holes, c.holes, b.Files)
		}
	}
}

// warnings returns the warnings of a load, one per line, with a mark on those that are
// notes.
func warnings(b *parse.Bundle) string {
	var s strings.Builder
	for _, w := range b.Warnings {
		fmt.Fprintf(&s, "%s note=%v\n", w, w.Note)
	}
	return s.String()
}

// TestZeroedHeaders: zeros over the header of a member of a tar archive look like its
// end; what they cost is told, and all other members are read.
func TestZeroedHeaders(t *testing.T) {
	log := testLog(300)
	whole := tarOf(t, entry{"a.log", log}, entry{"b.log", log[:len(log)/2]}, entry{"c.log", log})
	member := func(n int) int { // offset of the header of member n
		at := 0
		for range n {
			at += tarBlock + (len(log)+tarBlock-1)/tarBlock*tarBlock
		}
		if n == 2 {
			at -= (len(log)+tarBlock-1)/tarBlock*tarBlock - (len(log)/2+tarBlock-1)/tarBlock*tarBlock
		}
		return at
	}
	for n := range 3 {
		for _, zeros := range []int{tarBlock, 2 * tarBlock, 8 * tarBlock} {
			bad := bytes.Clone(whole)
			clear(bad[member(n) : member(n)+zeros])
			b, _ := loaded(t, file(t, "x.tar", bad))
			if len(b.Files) != 2 || !b.Inputs[0].Partial || !strings.Contains(warnings(b), fmt.Sprintf("zeros at byte %d ", member(n))) {
				t.Errorf("%d zeros over header %d: %d files, partial %v, %s", zeros, n, len(b.Files), b.Inputs[0].Partial, warnings(b))
			}
		}
	}
	gone := bytes.Clone(whole) // a member with all of its data
	clear(gone[member(1):member(2)])
	padded := append(bytes.Clone(whole), make([]byte, tarRecord-len(whole)%tarRecord)...)
	for what, tt := range map[string]struct {
		data  []byte
		files int
		want  string // in the warnings
	}{
		"whole":               {whole, 3, ""},
		"padded":              {padded, 3, ""},
		"two":                 {append(bytes.Clone(whole), whole...), 6, ""},
		"two padded":          {append(bytes.Clone(padded), whole...), 6, ""},
		"a member is zeros":   {gone, 2, "are no usual end of an archive"},
		"no end mark":         {whole[:len(whole)-2*tarBlock], 3, "there is no end mark at byte"},
		"other data behind":   {append(bytes.Clone(whole), log[:700]...), 3, "belong to no header"},
		"cut between members": {whole[:member(2)], 2, "there is no end mark at byte"},
	} {
		b, _ := loaded(t, file(t, "x.tar", tt.data))
		if got := warnings(b); len(b.Files) != tt.files || b.Inputs[0].Partial != (tt.want != "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d files, partial %v, %s", what, len(b.Files), b.Inputs[0].Partial, got)
		}
	}
}

// TestZipFront: a zip archive is known by its end, whatever stands at its front.
func TestZipFront(t *testing.T) {
	log := testLog(300)
	whole := zipOf(t, entry{"a.log", log}, entry{"b.log", log})
	flipped, zeroed := bytes.Clone(whole), bytes.Clone(whole)
	flipped[0] ^= 1
	clear(zeroed[:200])
	var stored bytes.Buffer
	zw := zip.NewWriter(&stored)
	for _, name := range []string{"a.log", "b.log", "c.log"} {
		w, _ := zw.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		w.Write(log)
	}
	zw.Close()
	for what, tt := range map[string]struct {
		data  []byte
		files int
		lost  bool
	}{
		"begins in a member": {stored.Bytes()[len(log)/2:], 2, true}, "flipped": {flipped, 1, true}, "zeroed": {zeroed, 1, true},
		"behind a line": {append([]byte("Content-Type: application/zip\r\n\r\n"), whole...), 2, false},
	} {
		b, _ := loaded(t, file(t, "x.zip", tt.data))
		if len(b.Files) != tt.files || len(b.Coverage) == 0 || b.Inputs[0].Partial != tt.lost || b.Inputs[0].Kind == "log" {
			t.Errorf("%s: %s, %d files, %s", what, b.Inputs[0].Kind, len(b.Files), warnings(b))
		}
	}
}

// TestZipOffset: a member that the directory of a zip archive misplaces is found.
func TestZipOffset(t *testing.T) {
	log := hostile.Log()
	whole := zipOf(t, entry{"a.log", []byte("nothing\n")}, entry{"n/kubelet.log", log}, entry{"b.log", []byte("nothing\n")})
	want, _ := loaded(t, file(t, "x.zip", whole))
	at := bytes.LastIndex(whole, []byte("n/kubelet.log")) - 4 // where the directory keeps the offset of the header
	for bit := range 32 {
		bad := bytes.Clone(whole)
		bad[at+bit/8] ^= 1 << (bit % 8)
		b, _ := loaded(t, file(t, "x.zip", bad))
		if len(want.Events) == 0 || textsOf(b) != textsOf(want) || !strings.Contains(warnings(b), `no header of "n/kubelet.log" where the directory says, but its data are at byte`) {
			t.Errorf("bit %d: %d events of %d, %s", bit, len(b.Events), len(want.Events), warnings(b))
		}
	}
}

// TestTornRecords: a log whose form shows that it is cut or holed says so.
func TestTornRecords(t *testing.T) {
	const klog = `E1120 23:44:%02d.100000    5203 kubelet.go:2448] PLEG is not healthy: pleg was last seen active 3m15.2s ago; threshold is 3m0s`
	many := func(form, between string) string {
		var s []string
		for i := range 20 {
			s = append(s, strings.ReplaceAll(form, "MSG", fmt.Sprintf(klog, i)))
		}
		return strings.Join(s, between)
	}
	const journald = `{"__REALTIME_TIMESTAMP":"1795217070200000","_HOSTNAME":"n1","SYSLOG_IDENTIFIER":"kubelet","MESSAGE":"MSG"}`
	const loki = `["1795217070200000000","MSG"]`
	for what, text := range map[string]string{
		"docker":         many(`{"log":"MSG\n","stream":"stderr","time":"2026-11-20T23:44:30.2Z"}`, "\n") + "\n",
		"journald":       many(journald, "\n") + "\n",
		"journald array": "[" + many(journald, ",\n") + "]\n",
		"export":         many("__REALTIME_TIMESTAMP=1795217070200000\n_HOSTNAME=n1\nSYSLOG_IDENTIFIER=kubelet\nMESSAGE=MSG\n", "\n") + "\n",
		"pretty":         many("{\n\t\"__REALTIME_TIMESTAMP\" : \"1795217070200000\",\n\t\"SYSLOG_IDENTIFIER\" : \"kubelet\",\n\t\"MESSAGE\" : \"MSG\"\n}", "\n") + "\n",
		"loki":           `{"data":{"result":[{"stream":{"host":"n1"},"values":[` + many(loki, ",") + `]}]}}`,
		"csv":            "timestamp,host,message\n" + many(`2026-11-20T23:44:30.2Z,n1,"MSG"`, "\n") + "\n",
	} {
		b, _ := loaded(t, file(t, "x.log", []byte(text)))
		if len(b.Events) != 20 || b.Inputs[0].Partial {
			t.Fatalf("%s: %d events, %s", what, len(b.Events), warnings(b))
		}
		half := len(text)*5/8 + strings.Index(text[len(text)*5/8:], "PLEG is not") // in the middle of a record
		holed := text[:half] + string(make([]byte, 4096)) + text[min(half+4096, len(text)*7/8):]
		for how, data := range map[string]string{"cut": text[:half], "holed": holed} {
			b, _ := loaded(t, file(t, "x.log", []byte(data)))
			want := map[string]string{"cut": "data is cut short", "holed": "zeros stand in place"}[how]
			if len(b.Events) < 10 || !b.Inputs[0].Partial || !strings.Contains(warnings(b), want) {
				t.Errorf("%s, %s: %d events, partial %v, %s", what, how, len(b.Events), b.Inputs[0].Partial, warnings(b))
			}
		}
	}
}

// TestOverwritten: lines of a log that were overwritten are told.
func TestOverwritten(t *testing.T) {
	log := testLog(900)
	junk := bytes.Repeat([]byte("\x8f\x00\xc3\x1b\x07\xfe\n"), 600)
	for at := 3000; at+len(junk) < len(log); at += len(log) / 5 {
		bad := slices.Concat(log[:at], junk, log[at+len(junk):])
		if b, _ := loaded(t, file(t, "kubelet.log", bad)); !b.Inputs[0].Partial || strings.Count(warnings(b), "bytes that are no text stand here") != 1 {
			t.Errorf("at %d: %s", at, warnings(b))
		}
	}
}

// TestUTF16Unmarked: a log in UTF-16 without a byte order mark, or of which the beginning
// is cut off at any byte, loses no more than its first line.
func TestUTF16Unmarked(t *testing.T) {
	log := string(hostile.Log())
	for _, enc := range []encoding{inUTF16LE, inUTF16BE} {
		data := in16(log, enc)
		for cut := range 8 {
			whole, _ := loaded(t, file(t, "kubelet.log", []byte(log[(cut+1)/2:])))
			b, _ := loaded(t, file(t, "kubelet.log", data[cut:]))
			got := strings.ReplaceAll(textsOf(b), "\ufffd", "") // the half of a character that is left at the end
			if want := textsOf(whole); len(b.Events) == 0 || got != want {
				t.Errorf("%v without %d bytes: %d events of %d, %s", enc, cut, len(b.Events), len(whole.Events), warnings(b))
			}
		}
	}
}

// TestUTF16Appended: what Windows PowerShell appends to a log in UTF-8 is read, in a file,
// an archive and a stream, and the place is told.
func TestUTF16Appended(t *testing.T) {
	log := string(hostile.Log())
	half := strings.IndexByte(log[len(log)/2:], '\n') + len(log)/2 + 1
	whole, _ := loaded(t, file(t, "kubelet.log", []byte(log)))
	for _, mark := range []string{"", "\ufeff"} {
		data := append([]byte(log[:half]), in16(mark+log[half:], inUTF16LE)...)
		long := append(bytes.Repeat([]byte(log[:half]), 300), in16(mark+log[half:], inUTF16LE)...) // beyond what is read ahead
		for name, in := range map[string][]byte{"kubelet.log": data, "kubelet.log.gz": gz(t, data), "x.tar": tarOf(t, entry{"kubelet.log", data})} {
			b, _ := loaded(t, file(t, name, in))
			if len(whole.Events) == 0 || textsOf(b) != textsOf(whole) || !strings.Contains(warnings(b), fmt.Sprintf("changes from UTF-8 to UTF-16LE at byte %d", half)) {
				t.Errorf("%s, mark %q: %d events of %d, %s", name, mark, len(b.Events), len(whole.Events), warnings(b))
			}
		}
		for name, in := range map[string][]byte{"kubelet.log": long, "kubelet.log.gz": gz(t, long)} {
			if b, _ := loaded(t, file(t, name, in)); strings.Count(warnings(b), "changes from UTF-8 to UTF-16LE") != 1 || strings.Contains(warnings(b), "no text") {
				t.Errorf("long %s, mark %q: %s", name, mark, warnings(b))
			}
		}
	}
}

// TestTarTypes: members of unknown types, and of those that are the rest of a file, are
// read as files.
func TestTarTypes(t *testing.T) {
	for _, typ := range "Z7MA" {
		packed := tarOf(t, entry{"n/kubelet.log", hostile.Log()})
		sum := 0
		for i, c := range packed[:tarBlock] {
			if i >= 148 && i < 156 {
				c = ' '
			}
			sum += int(c)
		}
		packed[156] = byte(typ)
		copy(packed[148:], fmt.Sprintf("%06o\x00 ", sum+int(typ)-'0'))
		if b, _ := loaded(t, file(t, "x.tar", packed)); len(b.Events) < 5 {
			t.Errorf("type %c: %d events, %s", typ, len(b.Events), warnings(b))
		}
	}
}

// TestCutMetrics: an input of metrics that are cut short is partial.
func TestCutMetrics(t *testing.T) {
	page := "# TYPE kubelet_pleg_relist_duration_seconds histogram\nkubelet_pleg_relist_duration_seconds_bucket{le=\"+Inf\"} 12\n" +
		"kubelet_pleg_relist_duration_seconds_sum 3\nkubelet_pleg_relist_duration_seconds_count 12\n"
	for _, n := range []int{0, 1, 40} {
		b, _ := loaded(t, file(t, "metrics.prom", []byte(page[:len(page)-n])))
		if b.Inputs[0].Partial != (n > 0) || parse.Partial(b.Warnings) != (n > 0) {
			t.Errorf("%d bytes cut: partial %v, %s", n, b.Inputs[0].Partial, warnings(b))
		}
	}
}

// TestNotes: what users should know of an input that was read in whole does not make
// it partial.
func TestNotes(t *testing.T) {
	var log []byte
	for i := range 60 {
		log = fmt.Appendf(log, "E1120 23:44:%02d.100000    5203 kubelet.go:2448] PLEG is not healthy: pleg was last seen active 3m%d.2s ago; threshold is 3m0s\n", i, i)
	}
	for what, in := range map[string]string{
		"a log twice":    file(t, "x.log.gz", append(gz(t, log), gz(t, log)...)),
		"names twice":    file(t, "x.tar", tarOf(t, entry{"a.log", log}, entry{"a.log", log[:900]})),
		"names lead out": file(t, "y.tar", tarOf(t, entry{"../../a.log", log})),
	} {
		if b, _ := loaded(t, in); len(b.Warnings) == 0 || b.Inputs[0].Partial || parse.Partial(b.Warnings) {
			t.Errorf("%s: partial %v, %s", what, b.Inputs[0].Partial, warnings(b))
		}
	}
}
