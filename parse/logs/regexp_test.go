package logs

import (
	"regexp"
	"testing"
)

// TestOnDemand compiles the expressions that the program compiles only on demand.
func TestOnDemand(t *testing.T) {
	all := []func() *regexp.Regexp{
		oomRE, exitStampRE, exitTextRE, engineEventRE, volumeRE, orphanRE, volumeErr, probePrintfRE, probeEventRE,
		psLongRE, psAuxRE, psWideRE, timeoutRE, describeRE, cutRowRE, statesTrouble, syncPrintfRE, syncKeyedRE, deletionRE,
		podObjectRE, typedIDRE, cutRE, filterUIDRE, syncErrRE, sizeRE,
	}
	for _, f := range managerForms {
		if f.printf != nil {
			all = append(all, f.printf)
		}
	}
	for _, get := range all {
		get()
	}
}
