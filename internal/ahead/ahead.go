// Package ahead has what the program brings read while it still starts: about as
// long as that takes, the packages that nothing here depends on set themselves up,
// one after the other, before main begins. Where there is more than one processor,
// the signatures and the causes are ready by the time that the input is open.
//
// Reading begins with the initialisation of this package, when those that it calls
// are initialised, as the language has it.
package ahead

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/plegforensics/plegforensics/parse/logs"
	"github.com/plegforensics/plegforensics/rules"
)

// readers are the commands that need signatures and causes whatever else stands in
// the command line. For others all is read when it is asked for.
var readers = []string{"analyze", "batch", "compare", "timeline"}

// untilMain lets the heap grow beyond the first few megabytes without a collection,
// which would stop all that is going on here. Main chooses its own pace.
const untilMain = 400

// causes gives one pack, nil where none is being read.
var causes = start(os.Args)

func start(args []string) chan *rules.Pack {
	if runtime.GOMAXPROCS(0) < 2 || len(args) < 3 || !slices.Contains(readers, args[1]) || slices.ContainsFunc(args[2:], asksForHelp) {
		return nil
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(untilMain)
	}
	ready := make(chan *rules.Pack, 1)
	go logs.Builtin()
	go func() {
		ready <- read()
		close(ready)
	}()
	return ready
}

func asksForHelp(arg string) bool { return arg == "-h" || arg == "--help" || arg == "-help" }

// Causes returns a pack of the causes that the program brings. It is the caller's,
// who may add to it.
func Causes() *rules.Pack {
	if causes != nil {
		if pack, ok := <-causes; ok {
			return pack
		}
	}
	return read()
}

func read() *rules.Pack {
	pack, _ := rules.Builtin() // a test of package rules holds the files to be right
	return pack
}
