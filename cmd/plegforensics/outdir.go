package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/plegforensics/plegforensics/internal/fleet"
)

// The directory of --out-dir belongs to one run at a time, or to the shards of one: two runs would
// write the same reports and records. A run locks .records/lock exclusively; a shard shares that
// lock and holds one of its own. The operating system releases the locks of a killed run.

// outDir is an --out-dir that is locked by this run.
type outDir struct{ locks []*os.File }

// errBusy is returned by lock if another process holds the lock.
var errBusy = errors.New("another run holds it")

// makeDirs creates a directory and its missing parents. unmake removes those of them that are still
// empty, so that a refused run leaves none.
func makeDirs(dir string) (unmake func(), err error) {
	var made []string
	for d := dir; d != ""; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if dir != "" {
		err = os.MkdirAll(dir, 0o755)
	}
	return func() {
		for _, d := range made {
			_ = os.Remove(d) // fails for a non-empty directory, as intended
		}
	}, err
}

// holdOutDir creates the directory if necessary and locks it. Half-written files of a killed run
// are removed if nobody else uses the directory.
func holdOutDir(dir string, shard fleet.Shard) (*outDir, error) {
	records := filepath.Join(dir, ".records")
	if linked(records) {
		return nil, usage("remove it, or give another --out-dir", "--out-dir %s: .records in it is a link: none is followed there", dir)
	}
	if err := os.MkdirAll(records, 0o755); err != nil {
		return nil, usage("", "--out-dir %s", plainly(err))
	}
	busy := usage("wait for it, or give another --out-dir; shards of one run may share it", "--out-dir %s: another run is at work there", dir)
	main, err := openLock(filepath.Join(records, "lock"))
	if err != nil {
		return nil, usage("", "--out-dir %s", plainly(err))
	}
	o := &outDir{locks: []*os.File{main}}
	alone := lock(main, true)
	if alone == nil {
		removeHalves(dir)
		removeHalves(records)
	}
	if shard == (fleet.Shard{}) {
		if errors.Is(alone, errBusy) {
			o.free()
			return nil, busy
		}
		return o, nil
	}
	if err := lock(main, false); errors.Is(err, errBusy) {
		o.free()
		return nil, busy
	}
	own, err := openLock(filepath.Join(records, fmt.Sprintf("lock-%d-of-%d", shard.Index, shard.Of)))
	if err == nil {
		o.locks = append(o.locks, own)
		err = lock(own, true)
	}
	if errors.Is(err, errBusy) {
		o.free()
		return nil, usage("each shard may run once at a time", "--out-dir %s: another run of shard %s is at work there", dir, shard)
	}
	return o, nil
}

// apart removes --out-dir from the bundles if it is in the same directory as they are. It returns
// an error if --out-dir is an input or inside a bundle: the next run would take the reports for
// bundles.
func apart(c *cli.Context, dir string, names []string) ([]string, error) {
	if dir == "" {
		return names, nil
	}
	for _, arg := range c.Args().Slice() {
		if sameFile(arg, dir) {
			return nil, usage("write the reports somewhere else", "--out-dir %s: is an input", dir)
		}
	}
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return sameFile(name, dir) })
	for _, name := range out {
		if inside(dir, name) {
			return nil, usage("write the reports somewhere else", "--out-dir %s: lies in the bundle %s", dir, name)
		}
	}
	if len(out) == 0 {
		return nil, &exitError{exitNothing, "no bundles found", "there is nothing but the reports of --out-dir"}
	}
	return out, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// inside reports whether dir, which need not exist, is inside a bundle that is a directory.
func inside(dir, bundle string) bool {
	if st, err := os.Stat(bundle); err != nil || !st.IsDir() {
		return false
	}
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return within(real, bundle)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// free releases the directory. The lock files stay: removing one that another run has just opened
// would give two runs a lock each.
func (o *outDir) free() {
	for _, f := range o.locks {
		_ = f.Close() // releases the lock
	}
}

// linked reports whether path is a symbolic link.
func linked(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&os.ModeSymlink != 0
}

func openLock(path string) (*os.File, error) {
	if linked(path) {
		return nil, errors.New(path + " is a link: none is followed there")
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
}

// half matches the names of files being written, as made by output.createTemp.
var half = regexp.MustCompile(`^\..+\.[A-Z2-7]{8}\.tmp$`)

// removeHalves removes half-written files of a killed run.
func removeHalves(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && half.MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // harmless if it fails
		}
	}
}
