package facts

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/plegforensics/plegforensics/parse"
)

// slowCommand is the run time from which a command is reported as slow.
const slowCommand = 30 * time.Second

// sosManifest reads sos_reports/manifest.json: version, clocks, and the outcome of
// each command.
func (s *scan) sosManifest() {
	t, err := jsonTree(s.data)
	if t == nil {
		s.warn("manifest cannot be read: " + err.Error())
		return
	}
	if err != nil {
		s.warn("manifest ends early or is broken: " + err.Error())
	}
	s.toLine(max(t.get("version").line, 1))
	s.text(KeyCollector, "sos")
	s.text(KeyCollectorVersion, t.get("version").value)
	s.manifestClock(t)
	report := t.get("components", "report", "plugins")
	for i, name := range report.names {
		s.plugin(name, report.kids[i])
	}
}

// manifestClock derives the collection time and the zone of the host from the two
// clocks of the manifest: times of the report and its plugins are local without a
// zone, times of commands are epoch seconds.
func (s *scan) manifestClock(t *tree) {
	end := t.get("end_time")
	if end.line == 0 {
		end = t.get("start_time")
	}
	local, err := parse.ParseTime("2006-01-02 15:04:05.999999", end.value)
	if err != nil {
		return
	}
	s.toLine(end.line)
	off, ok := manifestOffset(t)
	if !ok {
		s.text(KeyCollected, end.value).Raw = reading(local, parse.LackZone)
		return
	}
	s.text(KeyCollected, end.value).Raw = reading(local.Add(-time.Duration(off)*time.Second), 0)
	s.add(KeyZone, zoneName(off), float64(off))
}

// manifestOffset returns the zone of the host in seconds east of UTC: the local
// start of a plugin minus the epoch of its first command, rounded to a quarter of
// an hour.
func manifestOffset(t *tree) (int, bool) {
	plugins := t.get("components", "report", "plugins")
	for _, p := range plugins.kids {
		local, err := parse.ParseTime("2006-01-02 15:04:05.999999", p.get("start_time").value)
		if err != nil {
			continue
		}
		best := math.Inf(1)
		for _, c := range p.get("commands").items() {
			if at, ok := number(c.get("start_time").value); ok && at > 1e9 {
				best = math.Min(best, at)
			}
		}
		if math.IsInf(best, 1) {
			continue
		}
		// Commands start after their plugin, usually within a minute.
		diff := float64(local.UnixNano())/1e9 - best
		off := math.Round(diff/900) * 900
		if math.Abs(diff-off) < 440 && math.Abs(off) <= 14*3600 {
			return int(off), true
		}
	}
	return 0, false
}

// plugin reads one plugin of the manifest.
func (s *scan) plugin(name string, p *tree) {
	if p.get("timeout_hit").value == "true" {
		s.toLine(p.get("timeout_hit").line)
		s.add(KeyKilled, name, math.NaN(), attr("command", "plugin "+name))
	}
	for _, c := range p.get("commands").items() {
		exec, file := c.get("exec").value, c.get("filepath").value
		took := manifestTook(c)
		code := c.get("return_code")
		s.toLine(max(c.line, code.line))
		switch {
		case code.value == "124":
			s.add(KeyKilled, exec, took, attr("command", exec), attr("file", file), attr("code", "124"))
		case took >= slowCommand.Seconds():
			s.add(KeySlow, exec, took, attr("command", exec), attr("file", file), attr("code", code.value))
		}
		if c.get("truncated").value == "true" {
			s.toLine(c.get("truncated").line)
			s.text(KeyTruncated, file, attr("file", file), attr("command", exec))
		}
	}
}

// manifestTook returns the run time of a command in seconds, NaN if unknown.
func manifestTook(c *tree) float64 {
	if v, ok := number(c.get("run_time").value); ok {
		return v
	}
	start, ok1 := number(c.get("start_time").value)
	end, ok2 := number(c.get("end_time").value)
	if ok1 && ok2 {
		return end - start
	}
	return math.NaN()
}

func isCollectorVersion(name, head string) bool {
	return name == "version" && strings.HasPrefix(head, "sos")
}

// collectorVersion reads sos' version.txt: "sos report: 4.12.0".
func (s *scan) collectorVersion() {
	if !s.advance() {
		return
	}
	name, v, ok := strings.Cut(s.line, ":")
	if f := fields(name); ok && len(f) > 0 {
		s.text(KeyCollector, strings.TrimSuffix(f[0], "report")) // 3.x says "sosreport:"
		s.text(KeyCollectorVersion, strings.TrimSpace(v))
	}
}

func isSosLog(name, head string) bool {
	return name == "sos" && strings.Contains(head, " INFO: ")
}

// sosLog reads sos_logs/sos.log for files skipped because of their size: sos keeps
// the end of a text file, but nothing of a binary file such as a journal.
func (s *scan) sosLog() {
	for s.advance() {
		rest, ok := strings.CutSuffix(s.line, "' over size limit")
		if _, file, found := strings.Cut(rest, "skipping '"); ok && found {
			s.text(KeySkipped, file, attr("file", file))
		}
	}
}

// bundleMetadata reads metadata.yaml of support-bundle-kit.
func (s *scan) bundleMetadata() {
	s.seekText("bundlename:")
	s.text(KeyCollector, "support-bundle-kit")
	s.rewind()
	for s.advance() {
		name, v, _ := strings.Cut(s.line, ":")
		v = strings.Trim(strings.TrimSpace(v), `"`)
		switch name {
		case "bundleversion":
			s.text(KeyCollectorVersion, v)
		case "bundlecreatedat":
			if at := stamp(v); at.Basis != parse.NoTime {
				f := s.text(KeyCollected, v)
				f.Raw = parse.Clock{NS: at.At, Res: at.Res.Duration(), Set: true}
			}
		}
	}
}

// runInfo reads the JSON that troubleshoot writes about a command run on the host.
func (s *scan) runInfo() {
	var info struct {
		Command  string `json:"command"`
		ExitCode string `json:"exitCode"`
		Error    string `json:"error"`
	}
	if err := json.Unmarshal(s.data, &info); err != nil {
		return
	}
	s.seekText(`"exitCode"`)
	if info.ExitCode == "124" || strings.Contains(info.Error, "killed") || strings.Contains(info.Error, "deadline") {
		s.add(KeyKilled, info.Command, math.NaN(), attr("command", info.Command), attr("code", info.ExitCode))
	}
}

// supportconfig reads the text files of SUSE's supportconfig. Their sections begin
// with a line "#==[ Command ]==…" and one like "# /bin/date".
func (s *scan) supportconfig() {
	name, from, row := "", 0, uint32(0)
	flush := func(end int) {
		if name != "" && end > from {
			s.section(name, from, end, row).run()
		}
		name = ""
	}
	for s.advance() {
		if strings.HasPrefix(s.line, "#==[ ") {
			flush(s.at)
			if !s.advance() {
				return
			}
			name, from, row = commandName(strings.TrimPrefix(s.line, "# ")), s.next, s.row+1
		}
	}
	flush(len(s.data))
}

// commandName turns a command line into the file name that its output would have:
// "/bin/ps axo pid" becomes "ps_axo_pid", "cat PATH" the base name of PATH.
func commandName(cmd string) string {
	f := fields(strings.ToLower(cmd))
	if len(f) == 0 {
		return ""
	}
	f[0] = f[0][strings.LastIndexByte(f[0], '/')+1:]
	if f[0] == "cat" && len(f) == 2 {
		return f[1][strings.LastIndexByte(f[1], '/')+1:]
	}
	return strings.Join(f, "_")
}

// troubleHead is how many lines of a file are searched for signs that its command
// was killed; these come first or alone.
const troubleHead = 20

// troubles are texts that stand in place of the output of a command that did not
// finish.
var troubles = []string{
	"Timed out", "timed out", "context deadline exceeded", "DeadlineExceeded", "command terminated with exit code 124", "Command timed out",
	"Connection timed out", "error: journal output not available",
}

// tellers are commands that print what other programs have written.
var tellers = []string{"journalctl", "dmesg", "tail", "head", "cat", "grep", "kubectl_logs", "kubectl_describe", "kubectl_get", "docker_logs", "crictl_logs"}

// tells reports whether a text of troubles in the output of a command may well be
// another program's: deadlines of calls belong to programs that write logs.
func tells(name, text string) bool {
	return strings.Contains(strings.ToLower(text), "deadline") && slices.ContainsFunc(tellers, func(cmd string) bool { return name == cmd || strings.HasPrefix(name, cmd+"_") })
}

// isTrouble reports whether an output consists of little but a text of troubles.
func isTrouble(name, head string) bool {
	if len(head) >= headLen || strings.Count(head, "\n") > 5 || strings.HasPrefix(head, "{") {
		return false
	}
	for line := range strings.Lines(head) {
		if troubled(name, line) {
			return true
		}
	}
	return false
}

// complaints begin what a command or its collector says about its own end.
var complaints = []string{"FATA[", "ERRO[", "Error", "error:", "ERROR", "Command ", "command ", "Plugin ", "plugin ", "timeout:", "Unable to ", "Failed to ", "E:"}

// troubled reports whether a line of the output of the command says that this did not finish: the text of
// troubles begins it, or is behind the name of the command or the beginning of a complaint. Within another
// line it is of a program that writes a log.
func troubled(name, line string) bool {
	line = strings.TrimSpace(line)
	command, _, _ := strings.Cut(name, "_")
	for _, w := range troubles {
		before, _, ok := strings.Cut(line, w)
		if !ok || tells(name, w) {
			continue
		}
		if before == "" || strings.Contains(before, "level=fatal") || strings.HasPrefix(before, command+": ") ||
			slices.ContainsFunc(complaints, func(c string) bool { return strings.HasPrefix(before, c) }) {
			return true
		}
	}
	return false
}

// trouble looks for signs that the command that wrote the file did not finish.
// Files of more than 64 KiB and log lines are skipped: they may mention timeouts of
// other things.
func (s *scan) trouble() {
	if len(s.data) > 64<<10 {
		return
	}
	for s.row < troubleHead && s.advance() {
		if troubled(s.name, s.line) && !strings.Contains(s.line, `"message"`) && !strings.Contains(s.line, "message:") {
			s.add(KeyKilled, s.name, math.NaN(), attr("command", strings.ReplaceAll(s.name, "_", " ")), attr("file", s.file.Path))
			return
		}
	}
}
