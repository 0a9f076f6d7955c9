// Package imports holds no code, only the test that keeps the architecture: who
// may import whom, and which packages stay pure. A rule that is not tested is a
// wish.
package imports
