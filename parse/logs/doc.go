// Package logs knows what log lines say: it takes the klog header off, decides
// whether a line matters, finds known messages in it and extracts their fields.
//
// Known messages are data: signatures/*.yaml, one entry a message, each with
// sample lines that a test matches. A Set looks for the literals of all of
// them that the line's writer may write in one pass; an entry that is picked so
// is then verified by its pattern or its named extractor. The pass may pick too
// much but never too little, which MatchBrute, the test oracle, holds it to.
package logs
