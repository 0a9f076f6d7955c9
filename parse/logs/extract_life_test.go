package logs

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plegforensics/plegforensics/parse"
)

// Patterns that the hand-written parsers must agree with.
var (
	wantRunSandbox = regexp.MustCompile(`(?s)^RunPod[Ss]andbox for (.*?)(?: returns sandbox id "([0-9a-f]+)"| (failed, error))?$`)
	wantCreate     = regexp.MustCompile(`(?s)^CreateContainer within sandbox "([0-9a-f]+)" (?:for container|for|with container config) (.*?)(?: returns container id "([0-9a-f]+)"| (failed))?$`)
	wantMetadata   = regexp.MustCompile(`(?i)\b(name|uid|namespace):\s*"?([^",}\s]+)`)
	wantCode       = regexp.MustCompile(`code ?= ?(\w+),? ?desc`)
)

func TestCRIRequestsEqualPatterns(t *testing.T) {
	lines := []string{
		`RunPodSandbox for &PodSandboxMetadata{Name:web-0,Uid:0d1c,Namespace:default,Attempt:0,} returns sandbox id "5a11cafe"`,
		`RunPodsandbox for name:"web-0"  uid:"0d1c" namespace:"default"  attempt:1 failed, error`,
		`CreateContainer within sandbox "5a11cafe" for container &ContainerMetadata{Name:app,Attempt:0,}`,
		`CreateContainer within sandbox "5a11cafe" for name:"app" returns container id "c0ffee"`,
		`CreateContainer within sandbox "5a11cafe" with container config name:"app"  attempt:2 failed`,
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	read := 0
	for range 20000 {
		msg := lines[rnd.IntN(len(lines))]
		if rnd.IntN(4) > 0 {
			msg = damage(rnd, msg)
		}
		run, ok := readRunSandbox(msg)
		m := wantRunSandbox.FindStringSubmatch(msg)
		if ok != (m != nil) || ok && run != (criRequest{metadata: m[1], id: m[2], failed: m[3] != ""}) {
			t.Fatalf("%q: %+v %v, want %q", msg, run, ok, m)
		}
		create, ok2 := readCreate(msg)
		m2 := wantCreate.FindStringSubmatch(msg)
		if ok2 != (m2 != nil) || ok2 && create != (criRequest{m2[1], m2[2], m2[3], m2[4] != ""}) {
			t.Fatalf("%q: %+v %v, want %q", msg, create, ok2, m2)
		}
		if !ok && !ok2 {
			continue
		}
		read++
		text := run.metadata + create.metadata
		var want []parse.Field
		for _, x := range wantMetadata.FindAllStringSubmatch(text, 4) {
			name := map[string]string{"name": "name", "uid": "pod_uid", "namespace": "pod_ns"}[strings.ToLower(x[1])]
			want = addField(want, name, x[2])
		}
		if got := addMetadata(nil, text, "name"); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
	}
	if read < 5000 {
		t.Errorf("only %d lines were read", read)
	}
}

func TestStatedCodeEqualsPattern(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		err := damage(rnd, []string{
			"rpc error: code = DeadlineExceeded desc = context deadline exceeded", "rpc error: code = 4, desc = x",
			"exit code 1: rpc error: code=Unknown desc = failed code = 2",
		}[rnd.IntN(3)])
		m := wantCode.FindStringSubmatch(err)
		if m != nil && strings.HasSuffix(m[0], m[1]+"desc") {
			continue // a code that runs into the next word: nothing prints that
		}
		want := ""
		if m != nil {
			want = codeName(m[1])
		}
		if got := statedCode(err); got != want {
			t.Fatalf("%q: %q, want %q", err, got, want)
		}
	}
}

// TestConditionEqualsPattern compares the parsing of a condition with the equivalent
// pattern.
func TestConditionEqualsPattern(t *testing.T) {
	re := regexp.MustCompile(`(?s)\{Type:(\w+)[ ,]Status:(\w+)(?:[ ,]LastHeartbeatTime:(.*?))?(?:[ ,]LastTransitionTime:(.*?))?[ ,]Reason:([^ ,]*)[ ,]Message:(.*?),?(?:\}?[\s"]*$|\}[ \t]*\n)`)
	rnd := rand.New(rand.NewPCG(13, 14))
	read := 0
	for range 50_000 {
		text := damage(rnd, []string{
			`Node became not ready: {Type:Ready Status:False LastHeartbeatTime:2021-01-09 19:48:52.46 +0800 CST m=+9.179 LastTransitionTime:2021-01-09 19:48:52 +0800 CST Reason:KubeletNotReady Message:PLEG is not healthy: pleg}`,
			"x {Type:Ready,Status:False,LastHeartbeatTime:2021-01-09 19:48:52 +0000 UTC,LastTransitionTime:2021-01-09,Reason:A,Message:[{x} y, z],} \n------ {others}\n",
			`"x" node="n1" condition={Type:{Type:Ready Status:False Reason:KubeletNotReady Message:x}"  `,
		}[rnd.IntN(3)])
		m := re.FindStringSubmatch(text)
		if strings.Count(text, "Status:") > 1 || strings.Count(text, "Reason:") > 1 || strings.Count(text, "Message:") > 1 || strings.Count(text, "Time:") > 2 {
			continue // ambiguous: of several readings the pattern finds the longest
		}
		c, ok := printedCondition(text)
		if ok != (m != nil) || ok && c != (condition{m[1], m[2], m[3], m[4], m[5], m[6]}) {
			t.Fatalf("%q:\n%q %v, want\n%q", text, c, ok, m)
		}
		if ok {
			read++
		}
	}
	if read < 5000 {
		t.Errorf("only %d were read", read)
	}
}

// TestExitEqualsPattern compares the parsing of an exit with the equivalent
// patterns.
func TestExitEqualsPattern(t *testing.T) {
	head := regexp.MustCompile(`(?s)^(?:TaskExit event|[Rr]eceived (?:(container|sandbox|sandbox container) )?exit event)(?: in podsandbox handler)? (.*)`)
	key := regexp.MustCompile(`\b(ContainerID|container_id|sandbox_id|ID|id|ExitStatus|exit_status):\s*"?([0-9a-zA-Z_.-]*)`)
	rnd := rand.New(rand.NewPCG(9, 10))
	read := 0
	for range 20000 {
		msg := damage(rnd, []string{
			`TaskExit event &TaskExit{ContainerID:c0ffee01,ID:c0ffee01,Pid:4711,ExitStatus:137,XXX_unrecognized:[],}`,
			`TaskExit event in podsandbox handler container_id:"c0ffee01" id:"c0ffee01" pid:1 exit_status:1 exit_status: 2`,
			`received sandbox container exit event sandbox_id:"c0ffee01" id: "c0ffee01" ID:id:x`,
			`Received container exit event container_id:"c0ffee01"`,
		}[rnd.IntN(4)])
		container, task, code := "", "", "0"
		m := head.FindStringSubmatch(msg)
		if m != nil {
			for _, k := range key.FindAllStringSubmatch(m[2], exitKeys) {
				switch k[1] {
				case "ContainerID", "container_id", "sandbox_id":
					container = k[2]
				case "ID", "id":
					task = k[2]
				default:
					code = k[2]
				}
			}
		}
		var want []parse.Field
		if container != "" && (task == "" || task == container) {
			kind, _, _ := strings.Cut(m[1], " ")
			want = addField(addField([]parse.Field{{Name: "op", Value: "exited"}, {Name: "id", Value: container}, {Name: "exit_code", Value: code}}, "kind", kind), "exited_at", exitTime(m[2]))
			read++
		}
		if got, ok := extractTaskExit(&record{msg: msg}); ok != (want != nil) || !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", msg, got, want)
		}
	}
	if read < 2000 {
		t.Errorf("only %d messages were read", read)
	}
}
