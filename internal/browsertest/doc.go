// Package browsertest contains only a test, which opens an HTML report in a real browser, offline,
// and uses it as a reader would. It runs if PLEGFORENSICS_BROWSER is set and a Chromium is
// installed (PLEGFORENSICS_CHROMIUM names another one).
package browsertest
