//go:build unix

package output

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// descriptorOf returns the descriptor of this process that path names: /dev/stdout, /dev/fd/63,
// /proc/self/fd/3, and links to them.
func descriptorOf(path string) (int, bool) {
	for range 8 { // /dev/stdout -> /proc/self/fd/1
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return 0, false
		}
		if isDescriptors(dir) {
			n, err := strconv.Atoi(filepath.Base(path))
			return n, err == nil
		}
		path = filepath.Join(dir, filepath.Base(path))
		to, err := os.Readlink(path)
		if err != nil {
			return 0, false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return 0, false
}

// isDescriptors reports whether dir is the directory of our own descriptors.
func isDescriptors(dir string) bool {
	if dir == "/dev/fd" { // where it is not a link to /proc/self/fd
		return true
	}
	self, err := os.Readlink("/proc/self") // may differ from os.Getpid: /proc may be that of another PID namespace
	return err == nil && strings.HasPrefix(dir, "/proc/"+self+"/") && strings.HasSuffix(dir, "/fd")
}

// duplicate returns a duplicate of an open descriptor, which shares its file offset.
func duplicate(n int, path string) (*os.File, error) {
	fd, err := syscall.Dup(n)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), path), nil
}

// keepOwner gives a new file the owner of the file it replaces, if permitted: a file that root
// replaces stays its owner's.
func keepOwner(to *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = to.Chown(int(st.Uid), int(st.Gid)) // only root may
	}
}
