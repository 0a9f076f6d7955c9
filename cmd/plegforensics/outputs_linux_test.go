package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestOutputsAsRoot writes to devices as root, which could replace them. It does so in its own
// mount namespace, with its own /dev, so that a bug cannot damage the machine.
func TestOutputsAsRoot(t *testing.T) {
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("needs root and mount namespaces")
	}
	log, err := filepath.Abs(filepath.Join(samples, "hang-list", "kubelet.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-m", "bash", "-euo", "pipefail", "-c", `
		mkdir dev && mount -t tmpfs -o mode=755 tmpfs dev
		mknod -m 666 dev/null c 1 3; mknod -m 666 dev/full c 1 7
		ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr
		mount --bind dev /dev
		pf() { plegforensics analyze --quiet "$@" "$LOG"; }
		has() { grep -q '"schema": "plegforensics/report/v1"'; }

		pf -o json=/dev/stdout | has
		pf -o json=/dev/stderr 2>&1 >/dev/null | has
		pf -o html=/dev/null; pf -o html=/dev/null -o json=/dev/null
		pf -o json=/dev/fd/3 3>three; has <three
		pf -o json=>(cat >sub); for i in $(seq 50); do [ -s sub ] && break; sleep 0.1; done; has <sub
		mkfifo fifo; cat fifo >got & pf -o json=fifo; wait $!; has <got; [ -p fifo ]
		ln -s there link; pf -o json=link; [ -L link ]; has <there
		! pf -o json=/dev/full 2>why; grep -q 'no space left on device' why
		[ -c /dev/null ] && [ -c /dev/full ] && [ -L /dev/stdout ] && [ -L /dev/fd ]
		touch theirs; chown 65534:65534 theirs; chmod 640 theirs; pf -o json=theirs
		[ "$(stat -c %u:%g:%a theirs)" = 65534:65534:640 ]
		touch inner; mount --bind inner inner; pf -o json=inner; has <inner
		mkdir small && mount -t tmpfs -o size=8k tmpfs small
		! pf -o html=small/x 2>why; grep -q -- '--output html=small/x: no space left on device' why; [ -z "$(ls -A small)" ]
		mkdir fleet; cp "$LOG" fleet/a.log; cp "$LOG" fleet/b.log; rc=0
		plegforensics batch --report json --out-dir small fleet/* >report 2>why || rc=$?
		[ $rc = 5 ]; [ $(grep -o 'small/[ab][^ ]*: no space left on device' why | wc -l) = 2 ]; grep -q '1 bundle, 1 node' report
	`)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "LOG="+log)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
