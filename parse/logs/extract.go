package logs

import "github.com/plegforensics/plegforensics/parse"

// extractor extracts the fields of a message whose structure a pattern cannot
// express. ok is false if r is not that message.
type extractor func(r *record) (fields []parse.Field, ok bool)

// extractors are the names that signature files may use in "extract". quick, if
// set, is a cheaper test that returns the same ok; it is for messages that occur in
// bulk.
var extractors = []struct {
	name  string
	f     extractor
	quick func(r *record) bool
}{
	{"age", extractAge, isAge},
	{"quoted", extractQuoted, isQuoted},
	{"never", extractNever, nil},
	{"cutreport", extractCutReport, nil},
	{"event", extractEvent, isEvent},
	{"ignoredevent", extractIgnoredEvent, isIgnoredEvent},
	{"sync", extractSync, isSync},
	{"condition", extractCondition, nil},
	{"describe", extractDescribe, nil},
	{"listfail", extractListFail, isListFail},
	{"podlistfail", extractPodListFail, nil},
	{"housekeeping", extractHousekeeping, isHousekeeping},
	{"rpc", extractRPC, isRPC},
	{"refused", extractRefused, isRefused},
	{"syncerr", extractSyncErr, nil},
	{"containerd", extractContainerd, isContainerd},
	{"taskexit", extractTaskExit, nil},
	{"events", extractEngineEvent, nil},
	{"oom", extractOOM, nil},
	{"volume", extractVolume, nil},
	{"probe", extractProbe, nil},
	{"psdstate", extractPSDState, nil},
	{"config", extractConfig, nil},
}

// sureMessages are structured messages that an extractor accepts whatever their
// keys.
var sureMessages = map[string][]string{
	"event":   {eventKeyed},
	"syncerr": {syncErrKeyed},
}

func findExtractor(name string) (f extractor, quick func(r *record) bool) {
	for _, e := range extractors {
		if e.name == name {
			return e.f, e.quick
		}
	}
	return nil, nil
}

func extractorNames() []string {
	out := make([]string, len(extractors))
	for i, e := range extractors {
		out[i] = e.name
	}
	return out
}
