package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/cmd/plegforensics/internal/output"
	"github.com/plegforensics/plegforensics/internal/fleet"
	"github.com/plegforensics/plegforensics/internal/report"
	"github.com/plegforensics/plegforensics/parse/bundle"
	"github.com/plegforensics/plegforensics/rules/causes"
)

// batchInputs returns the names of all bundles without duplicates.
func batchInputs(c *cli.Context) ([]string, error) {
	var out []string
	stdin := c.Bool("from-stdin")
	for _, arg := range c.Args().Slice() {
		if arg == "-" {
			stdin = true
			continue
		}
		names, packs := expand(arg)
		if packs > 1 && !c.Bool("quiet") {
			fmt.Fprintf(c.App.ErrWriter, "plegforensics: warning: %s holds %d archives among other files: it is taken for one bundle; a pattern, such as '%s/*.tar.gz', makes each a bundle\n",
				arg, packs, strings.TrimRight(arg, "/"))
		}
		out = append(out, names...)
	}
	if path := c.String("manifest"); path != "" {
		data, err := readAside(path, maxNames)
		if err != nil {
			return nil, usage("", "--manifest %s", plainly(err))
		}
		out = append(out, listed(data)...)
	}
	if stdin {
		data, err := readAll("the list", c.App.Reader, maxNames)
		if err != nil {
			return nil, usage("", "--from-stdin: %s", plainly(err))
		}
		out = append(out, listed(data)...)
	}
	for i := range out {
		out[i] = filepath.Clean(out[i])
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) == 0 {
		if !c.Args().Present() && c.String("manifest") == "" && !stdin {
			return nil, usage("see "+c.App.Name+" batch --help", "no input given")
		}
		return nil, &exitError{exitNothing, "no bundles found", "a directory argument must hold archives or directories"}
	}
	return out, nil
}

// expand turns an argument into names of bundles. packs is the number of archives in a directory
// that was taken as a bundle itself.
func expand(arg string) (names []string, packs int) {
	st, err := os.Stat(arg)
	if err != nil {
		if names, bad := filepath.Glob(arg); bad == nil && len(names) > 0 {
			return names, 0
		}
		return []string{arg}, 0 // results in a record with the error
	}
	if !st.IsDir() {
		return []string{arg}, 0
	}
	return bundlesIn(arg)
}

// bundlesIn returns the bundles in a directory. A directory that contains a plain file, neither
// hidden nor an archive, is a bundle itself.
func bundlesIn(dir string) (names []string, packs int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{dir}, 0
	}
	plain := false
	var out []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type().IsRegular() && archived(e.Name()) {
			packs++
		}
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			out = append(out, path)
		case e.Type().IsRegular() && packed(path):
			out = append(out, path)
		default:
			plain = true
		}
	}
	if plain {
		return []string{dir}, packs
	}
	return out, 0
}

// archived reports whether name is that of an archive. A compressed log is not: a bundle may hold
// many.
func archived(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, ".tar") || strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".txz") || strings.HasSuffix(name, ".tbz2") || strings.HasSuffix(name, ".zip")
}

// magics are the first bytes of archives and compressed files.
var magics = []string{"\x1f\x8b", "BZh", "\xfd7zXZ\x00", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18", "PK\x03\x04"}

// packed reports whether a file is an archive or compressed, by its first bytes.
func packed(path string) bool {
	f, err := bundle.OpenAside(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 262)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m)) {
			return true
		}
	}
	return n == len(head) && bytes.Equal(head[min(257, n):], []byte("ustar"))
}

// listed reads names, one per line, or separated by NULs if there are any.
func listed(data []byte) []string {
	sep := "\n"
	if bytes.IndexByte(data, 0) >= 0 {
		sep = "\x00"
	}
	var out []string
	for _, l := range strings.Split(string(data), sep) {
		if sep == "\n" {
			l = strings.TrimSpace(l)
		}
		if l != "" && (sep == "\x00" || !strings.HasPrefix(l, "#")) {
			out = append(out, l)
		}
	}
	return out
}

// shardOf returns the bundles of shard s. They are chosen by a hash of the name, so that a shard
// does not have to read the bundles of others and a new bundle does not move existing ones.
func shardOf(s fleet.Shard, names []string) []string {
	var out []string
	for _, name := range names {
		sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
		if binary.BigEndian.Uint64(sum[:8])%uint64(s.Of) == uint64(s.Index-1) {
			out = append(out, name)
		}
	}
	return out
}

// shardVariables are the environment variables in which CI systems and Kubernetes Jobs provide the
// shard, and the number their index starts at.
var shardVariables = []struct {
	index, total string
	first        int
}{
	{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0}, // Kubernetes sets only the index
	{"CI_NODE_INDEX", "CI_NODE_TOTAL", 1},          // GitLab
	{"CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0},
	{"BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0},
}

// shardNumbers parses --shard: I/N with I from 1 to N, or auto. It returns the zero Shard if the
// flag is not given.
func shardNumbers(c *cli.Context) (fleet.Shard, error) {
	s := c.String("shard")
	switch s {
	case "":
		return fleet.Shard{}, nil
	case "auto":
		return shardFromEnv(c)
	}
	a, b, ok := strings.Cut(s, "/")
	i, err := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err != nil || err2 != nil || i < 1 || i > n {
		return fleet.Shard{}, usage("for example --shard 3/16", "--shard: invalid value %q", s)
	}
	return fleet.Shard{Index: i, Of: n}, nil
}

func shardFromEnv(c *cli.Context) (fleet.Shard, error) {
	for _, v := range shardVariables {
		index, have := os.LookupEnv(v.index)
		if !have || index == "" {
			continue
		}
		total := cmp.Or(os.Getenv(v.total), "0")
		if k := c.Int("shard-total"); k > 0 {
			total = strconv.Itoa(k)
		}
		i, err1 := strconv.Atoi(index)
		n, err2 := strconv.Atoi(total)
		i += 1 - v.first
		if err1 != nil || err2 != nil || i < 1 || i > n {
			return fleet.Shard{}, usage("set --shard-total to the number of completions", "--shard auto: %s=%q of %q", v.index, index, total)
		}
		return fleet.Shard{Index: i, Of: n}, nil
	}
	return fleet.Shard{}, usage("give --shard I/N", "--shard auto: the environment tells no index")
}

// pathIdentity returns the identity of a bundle that cannot be read.
func pathIdentity(name string) string {
	sum := sha256.Sum256([]byte(filepath.ToSlash(name)))
	return "path:" + hex.EncodeToString(sum[:])
}

func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// identity returns a hash of a bundle's content; for a directory, of the relative names and
// contents of all regular files. Links are not followed.
func identity(ctx context.Context, name string) (string, error) {
	st, err := os.Stat(name)
	if err != nil {
		return "", bare(err)
	}
	h := sha256.New()
	if st.Mode().IsRegular() {
		err = hashFile(ctx, h, name)
		return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
	}
	if !st.IsDir() {
		return "", errors.New("neither a file nor a directory")
	}
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // bundle.Load warns of unreadable files
		}
		rel, _ := filepath.Rel(name, path)
		fmt.Fprintf(h, "%q\x00", filepath.ToSlash(rel))
		if err := hashFile(ctx, h, path); ctx.Err() != nil {
			return err
		}
		return nil
	})
	return "tree:" + hex.EncodeToString(h.Sum(nil)), err
}

// bare removes the path from an error; the record states it anyway.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func hashFile(ctx context.Context, h io.Writer, path string) error {
	f, err := bundle.OpenAside(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(h, cancelReader{ctx, f})
	return bundle.Told(err)
}

// cancelReader returns the error of ctx once that is done.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// resultFlags are the flags that affect what is found in a bundle.
var resultFlags = []string{"since", "until", "tz", "year", "node", "kubelet-version", "relist-threshold", "relist-period", "threshold",
	"max-bytes", "max-files", "max-logs", "max-nodes", "max-depth", "max-held", "max-series", "redact", "redact-key"}

// headerOf returns the header for the records of this run.
func headerOf(c *cli.Context) (fleet.Header, error) {
	opts, pack := sha256.New(), sha256.New()
	for _, f := range resultFlags {
		value := c.Value(f)
		if list, ok := value.(cli.StringSlice); ok {
			value = list.Value()
		}
		fmt.Fprintf(opts, "%s=%q\n", f, fmt.Sprint(value))
	}
	if !c.Bool("no-builtin-rules") {
		entries, err := causes.Files.ReadDir(".")
		if err != nil {
			return fleet.Header{}, err
		}
		for _, e := range entries {
			data, _ := causes.Files.ReadFile(e.Name())
			fmt.Fprintf(pack, "%s %x\n", e.Name(), sha256.Sum256(data))
		}
	}
	for _, path := range c.StringSlice("rules") {
		names, err := ruleFiles(path)
		if err != nil {
			return fleet.Header{}, err
		}
		for _, name := range names {
			data, err := readRuleFile(name)
			if err != nil {
				return fleet.Header{}, usage("", "--rules %s", plainly(err))
			}
			fmt.Fprintf(pack, "%x\n", sha256.Sum256(data))
		}
	}
	ids, err := causeIDs(c)()
	return fleet.Header{Schema: fleet.Schema, Tool: c.App.Version, Rules: hex.EncodeToString(pack.Sum(nil)[:16]), Causes: strings.Join(ids, " "),
		Options: hex.EncodeToString(opts.Sum(nil)[:16]), Build: buildID(), Redacted: redacting(c)}, err
}

// reportPath returns the path of a bundle's report.
func (b *batchRun) reportPath(f *report.Format, name, id string) string {
	return filepath.Join(b.dir, reportName(f, name, id))
}

// reportName returns the file name of a bundle's report.
func reportName(f *report.Format, name, id string) string {
	stem := fileName(name) + "-" + shortHash(name, id) + f.Ext
	if f.Name == "junit" { // Prow and others look for this prefix
		stem = "junit_" + stem
	}
	return stem
}

// fileName returns the last element of a path with characters that are unsafe in file names
// replaced.
func fileName(path string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, baseName(path))
	return strings.TrimLeft(safe[:min(len(safe), 100)], ".")
}

// keepPath returns where the record of a bundle is kept for --resume. The name includes a hash of
// the header, so a run with other rules or options does not find it.
func (b *batchRun) keepPath(id, name string) string {
	h := b.header
	sum := sha256.Sum256([]byte(strings.Join([]string{h.Schema, h.Tool, h.Rules, h.Options, h.Build, id, name}, "\x00")))
	return filepath.Join(b.dir, ".records", hex.EncodeToString(sum[:])+".json")
}

// kept is a record kept for --resume, with the sizes of the reports written before it, by format.
type kept struct {
	fleet.Record
	Reports map[string]int64 `json:"reports"` // bytes
}

func (b *batchRun) keep(r *fleet.Record, name string) error {
	k := kept{*r, map[string]int64{}}
	for _, f := range b.formats {
		st, err := os.Lstat(b.reportPath(f, r.Name, r.ID))
		if err != nil {
			return err
		}
		k.Reports[f.Name] = st.Size()
	}
	return output.Replace(b.c.Context, b.keepPath(r.ID, name), func(w io.Writer) error {
		return report.MarkedLine(w, "record", k) // marked, because it quotes lines and must not be read as a log
	})
}

// resumed returns the record kept by an earlier run if its reports still have the recorded sizes.
func (b *batchRun) resumed(id, name string) (fleet.Record, bool) {
	if !b.c.Bool("resume") {
		return fleet.Record{}, false
	}
	path := b.keepPath(id, name)
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return fleet.Record{}, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fleet.Record{}, false
	}
	var r kept
	if json.Unmarshal(data, &r) != nil || r.ID != id {
		return fleet.Record{}, false
	}
	for _, f := range b.formats {
		if st, err := os.Lstat(b.reportPath(f, r.Name, id)); err != nil || !st.Mode().IsRegular() || st.Size() != r.Reports[f.Name] {
			return fleet.Record{}, false
		}
	}
	return r.Record, true
}
