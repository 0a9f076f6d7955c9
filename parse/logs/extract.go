package logs

import "github.com/plegforensics/plegforensics/parse"

// extractor takes the fields out of a message whose structure a pattern
// cannot tell. ok is false when it is not that message.
type extractor func(r *record) (fields []parse.Field, ok bool)

// extractors are the names that signature files may use in "extract".
var extractors = []struct {
	name string
	f    extractor
}{
	{"age", extractAge},
	{"event", extractEvent},
	{"sync", extractSync},
	{"condition", extractCondition},
	{"describe", extractDescribe},
	{"listfail", extractListFail},
	{"housekeeping", extractHousekeeping},
	{"rpc", extractRPC},
	{"syncerr", extractSyncErr},
	{"containerd", extractContainerd},
	{"taskexit", extractTaskExit},
	{"events", extractEngineEvent},
	{"oom", extractOOM},
	{"volume", extractVolume},
	{"probe", extractProbe},
	{"psdstate", extractPSDState},
}

func findExtractor(name string) extractor {
	for _, e := range extractors {
		if e.name == name {
			return e.f
		}
	}
	return nil
}

func extractorNames() []string {
	out := make([]string, len(extractors))
	for i, e := range extractors {
		out[i] = e.name
	}
	return out
}
