package trial

import (
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/replay"
	"github.com/plegforensics/plegforensics/rules"
)

// TestStoppedRuntime tests that for a stopped runtime the command to continue it is given,
// since it could not write a stack dump, and that every other case gets at least one
// command.
func TestStoppedRuntime(t *testing.T) {
	pack, problems := rules.Builtin()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	stopped := 0
	d := pack.Cause("runtime-hang-global")
	for i := range d.Tests {
		all := Eval(&d.Tests[i], pack, logs.Builtin())
		k := slices.IndexFunc(all, func(c rules.Cause) bool { return c.ID == d.ID })
		if k < 0 {
			continue
		}
		c := all[k]
		if len(c.Commands) == 0 {
			t.Errorf("%s: no command", d.Tests[i].Name)
		}
		if !slices.ContainsFunc(c.For, func(e replay.Evidence) bool { return strings.Contains(e.Note, "is stopped (state T") }) {
			continue
		}
		stopped++
		if !strings.HasPrefix(c.Commands[0], "kill -CONT ") || !strings.Contains(c.Remediation[0], "kill -CONT ") || strings.Contains(strings.Join(c.Commands, "\n"), "SIGUSR1") {
			t.Errorf("%s: %q %q", d.Tests[i].Name, c.Remediation, c.Commands)
		}
	}
	if stopped == 0 {
		t.Error("no case with a stopped runtime")
	}
}

// TestPlugin tests that for a CNI plugin that does not exit the command that shows it is
// given.
func TestPlugin(t *testing.T) {
	pack, _ := rules.Builtin()
	d, shown := pack.Cause("cni-slow"), 0
	for i := range d.Tests {
		for _, c := range Eval(&d.Tests[i], pack, logs.Builtin()) {
			named := c.ID == d.ID && slices.ContainsFunc(c.For, func(e replay.Evidence) bool {
				return strings.Contains(e.Note, "(pid ") && strings.Contains(e.Note, "has run for")
			})
			if !named {
				continue
			}
			if shown++; !strings.Contains(c.Commands[0], " -p ") {
				t.Errorf("%s: %q", d.Tests[i].Name, c.Commands)
			}
		}
	}
	if shown == 0 {
		t.Error("no case with a plugin that runs")
	}
}
