// Package logs knows what log lines say: it takes the klog header off, decides
// whether a line matters, finds known messages in it and extracts their fields.
//
// Known messages are data: signatures/*.yaml, one entry a message, each with
// sample lines that a test matches. A Set compiles them into one byte-class
// automaton that picks candidates in a single pass; a picked entry is then
// verified by its pattern or its named extractor, so the automaton may pick
// too much but never too little.
package logs
