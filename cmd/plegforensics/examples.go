package main

// examples are the command lines shown by --help. A test runs each in a directory with the files
// that they name.
var examples = []struct{ command, line, about string }{
	{"", "plegforensics analyze sosreport.tar.xz", "everything found on the node, as text"},
	{"", "plegforensics inspect sosreport.tar.xz", "what the bundle holds, and what to collect next"},
	{"", "plegforensics help analyze", "flags and more examples"},

	{"analyze", "plegforensics analyze sosreport.tar.xz", "one bundle, as it is"},
	{"analyze", "plegforensics analyze kubelet.log containerd.log metrics/", "files of one node, read together"},
	{"analyze", "journalctl -u kubelet -o export | plegforensics", "the journal of this machine"},
	{"analyze", "plegforensics analyze kubelet.log -o html=report.html -o json=report.json", "a page to look at and a document for scripts"},
	{"analyze", "plegforensics analyze kubelet.log --since -2h --fail-on critical", "the last two hours of the input; exit status 1 where something is critical"},
	{"analyze", "plegforensics analyze kubelet.log --redact -o markdown=ticket.md", "names replaced, to be sent to somebody else"},

	{"timeline", "plegforensics timeline kubelet.log", "when each relist ran"},
	{"timeline", "plegforensics timeline kubelet.log -o json | jq '.nodes[].health'", "when PLEG was healthy, unhealthy, or unknown"},

	{"events", "plegforensics events kubelet.log containerd.log", "what the kubelet saw, and what it should have seen"},

	{"replay", "plegforensics replay kubelet.log --what-if threshold=5m", "would a longer threshold have avoided it?"},
	{"replay", "plegforensics replay snapshots.jsonl --what-if parallel-inspect=8", "the same for recorded relists"},
	{"replay", "plegforensics replay --scenario pods=66,status=40ms,changed=66 --find status", "a made-up node: how slow may the runtime be?"},

	{"query", "plegforensics query kubelet.log --list", "the series that there are"},
	{"query", "plegforensics query kubelet.log -e plegforensics_pleg_unhealthy", "one of them"},
	{"query", "plegforensics query metrics/ --alerts", "which alerts would have fired"},

	{"compare", "plegforensics compare good.tar.xz bad.tar.xz", "what is worse in the second"},

	{"batch", "plegforensics batch 'bundles/*.tar.xz' --out-dir reports -o html=fleet.html", "a report each and one of them all; --resume goes on where it was stopped"},
	{"batch", "plegforensics batch bundles/ --shard 1/4 --partial 1.plegp", "a quarter of the work, on one of four machines"},
	{"batch merge", "plegforensics batch merge --strict -o html=fleet.html *.plegp", "one report of all shards"},

	{"rules", "plegforensics rules list", "all causes and breach rules"},
	{"rules list", "plegforensics rules list", "one line each"},
	{"rules show", "plegforensics rules show runtime-hang-global", "the page of a cause"},
	{"rules check", "plegforensics rules check my-rules/", "mistakes in rule files, with their lines"},
	{"rules test", "plegforensics rules test my-rules/", "the test cases in them"},
	{"rules export", "plegforensics rules export prometheus --dir alerts/", "alerts for a server, with their tests"},

	{"explain", "plegforensics explain runtime-hang-global", "the page of a cause"},
	{"explain", "plegforensics explain proof", "what proves that PLEG was healthy"},
	{"inspect", "plegforensics inspect sosreport.tar.xz", "what the bundle holds"},
	{"schema", "plegforensics schema > report.schema.json", "the JSON Schema of what analyze writes"},
	{"completion", "source <(plegforensics completion bash)", "completion in this bash"},
	{"man", "plegforensics man | man -l -", "the manual page"},
}
