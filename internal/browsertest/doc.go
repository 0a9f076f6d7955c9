// Package browsertest holds no code, only the test that opens an HTML report in
// a real browser, offline, and uses it as a reader would. It runs where
// PLEGFORENSICS_BROWSER is set and a Chromium is installed
// (PLEGFORENSICS_CHROMIUM names another).
package browsertest
