package facts

import (
	"strconv"
	"strings"
)

func isDf(_, head string) bool {
	return strings.Contains(head, "Mounted on") && strings.Contains(head, "Filesystem")
}

// df reads df output, in blocks or inodes. A long device name is on a line of its
// own.
func (s *scan) df() {
	key, device := "", ""
	for s.advance() {
		f := fields(s.line)
		if strings.Contains(s.line, "Mounted on") {
			key = KeyDiskUsed
			if strings.Contains(s.line, "IUse%") || strings.Contains(s.line, "Inodes") {
				key = KeyInodeUsed
			}
			continue
		}
		if len(f) == 1 {
			device = f[0]
			continue
		}
		if key == "" {
			continue
		}
		for i, v := range f {
			if strings.HasSuffix(v, "%") && i+1 < len(f) && strings.HasPrefix(f[i+1], "/") {
				if i >= 5 || device == "" {
					device = f[0]
				}
				if !image(device) {
					mount := strings.Join(f[i+1:], " ")
					s.number(key, v, 1, attr("device", device), attr("mount", mount), attr("apart", apart(mount)))
				}
				break
			}
		}
		device = ""
	}
}

// image reports whether a device holds a read-only image, which is always full:
// snap packages, squashfs of live systems, discs.
func image(device string) bool {
	return strings.HasPrefix(device, "/dev/loop") || strings.HasPrefix(device, "/dev/sr") || device == "squashfuse" || device == "snapfuse"
}

// apart returns the purpose of a file system to which neither the system nor the
// container runtime writes, "" for others.
func apart(mount string) string {
	if strings.Contains(mount, "/kubelet/pods/") || strings.Contains(mount, "/kubelet/plugins/") {
		return "a volume"
	}
	for _, dir := range []string{"/boot", "/efi", "/home", "/media", "/sys"} {
		if mount == dir || strings.HasPrefix(mount, dir+"/") {
			return dir
		}
	}
	return ""
}

func isLvs(_, head string) bool {
	f := fields(firstLine(head))
	return len(f) > 3 && f[0] == "LV" && f[1] == "VG" && f[2] == "Attr"
}

// lvs reads the table of lvs(8). Since columns may be empty, values are found by
// the position of their column in the header.
func (s *scan) lvs() {
	if !s.advance() {
		return
	}
	head := s.line
	for s.advance() {
		f := fields(s.line)
		if len(f) < 3 || len(f[2]) < 1 || f[2][0] != 't' && f[2][0] != 'V' {
			continue
		}
		for _, c := range []struct{ name, key string }{{"Data%", KeyThinData}, {"Meta%", KeyThinMeta}} {
			if v := under(head, s.line, c.name); v != "" {
				s.number(c.key, v, 1, attr("volume", f[1]+"/"+f[0]))
			}
		}
	}
}

// under returns the word of a row below a column title, left or right aligned.
func under(head, row, name string) string {
	i := strings.Index(head, name)
	if i < 0 {
		return ""
	}
	j := i + len(name)
	if i >= len(row) {
		return ""
	}
	lo, hi := i, min(j, len(row))
	for lo > 0 && row[lo] != ' ' && row[lo-1] != ' ' {
		lo--
	}
	for hi < len(row) && row[hi] != ' ' && row[hi-1] != ' ' {
		hi++
	}
	return strings.TrimSpace(row[lo:hi])
}

// networkTypes are types of network file systems.
var networkTypes = map[string]bool{
	"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "smbfs": true, "ceph": true, "fuse.ceph": true, "fuse.ceph-fuse": true,
	"glusterfs": true, "fuse.glusterfs": true, "lustre": true, "gpfs": true, "beegfs": true, "fuse.s3fs": true, "fuse.sshfs": true,
	"fuse.juicefs": true, "JuiceFS:": true, "fuse.JuiceFS": true, "ocfs2": true, "gfs2": true, "afs": true, "9p": true, "efs": true,
	"quobyte": true, "fuse.quobyte": true, "weka": true, "wekafs": true, "pvfs2": true, "fuse.blobfuse2": true, "fuse.mount-s3": true,
}

func isMounts(name, head string) bool {
	line := firstLine(head)
	f := fields(line)
	switch {
	case len(f) >= 6 && f[1] == "on" && f[3] == "type" && strings.HasPrefix(f[5], "("):
		return true
	case len(f) >= 10 && isNumber(f[0]) && isNumber(f[1]) && strings.Contains(line, " - "):
		return true
	case len(f) == 6 && strings.HasPrefix(f[1], "/") && f[4] == "0" && (f[5] == "0" || f[5] == "1" || f[5] == "2"):
		return !strings.Contains(name, "fstab")
	}
	return false
}

// mount is an entry of a mount table.
type mount struct{ device, dir, fstype, options string }

// mounts reads the output of mount(8), /proc/mounts and /proc/PID/mountinfo.
func (s *scan) mounts() {
	n := 0
	for s.advance() {
		m, ok := mountOf(s.line)
		if !ok {
			continue
		}
		n++
		if networkTypes[m.fstype] {
			s.text(KeyNetworkMount, m.dir, attr("device", m.device), attr("server", server(m.device)), attr("mount", m.dir),
				attr("fstype", m.fstype), attr("options", m.options), attr("pods", pods(m.dir)))
		}
	}
	// The table of a single process shows only its own mount namespace.
	if n > 0 && !strings.Contains(s.file.Path, "/proc/") || s.name == "mounts" {
		s.add(KeyMounts, strconv.Itoa(n), float64(n))
	}
}

func mountOf(line string) (mount, bool) {
	f := fields(line)
	if before, after, ok := strings.Cut(line, " - "); ok && len(f) >= 10 {
		b, a := fields(before), fields(after)
		if len(b) >= 6 && len(a) >= 2 {
			opts := b[5]
			if len(a) > 2 {
				opts += "," + a[2]
			}
			return mount{a[1], b[4], a[0], opts}, true
		}
	}
	if on := strings.Index(line, " on "); on > 0 {
		if typ := strings.LastIndex(line, " type "); typ >= on+len(" on ") {
			rest := fields(line[typ+6:])
			if len(rest) >= 2 {
				return mount{line[:on], line[on+4 : typ], rest[0], strings.Trim(rest[1], "()")}, true
			}
		}
	}
	if len(f) == 6 && strings.HasPrefix(f[1], "/") {
		return mount{f[0], f[1], f[2], f[3]}, true
	}
	return mount{}, false
}

// server returns the host of a network device: "host:/dir" or "//host/share".
func server(device string) string {
	if rest, ok := strings.CutPrefix(device, "//"); ok {
		host, _, _ := strings.Cut(rest, "/")
		return host
	}
	if i := strings.LastIndex(device, ":/"); i > 0 {
		return device[:i]
	}
	return ""
}

// pods returns "true" if a mount is below the kubelet's pod directory, else "".
func pods(dir string) string {
	if strings.Contains(dir, "/kubelet/pods/") {
		return "true"
	}
	return ""
}
