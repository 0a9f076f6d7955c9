// Package logs interprets log lines. It strips the klog header, decides whether a
// line matters, recognizes known messages and extracts their fields.
//
// Known messages are data: signatures/*.yaml holds one entry per message, with
// sample lines that a test matches. A Set searches a line for the literals of all
// entries that the line's writer may write, in one pass. An entry picked this way
// is then verified by its pattern or its named extractor. The pass may pick too
// much but never too little; tests check it against the oracle MatchBrute.
package logs
