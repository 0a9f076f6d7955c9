// Package binary reads the files in which systemd-journald keeps its journal:
// regular and compact, with plain or keyed hashes, with xz, lz4 or zstd
// payloads, online, archived and dirty (".journal~").
//
// It reads through an io.ReaderAt with a small window, so memory use does not
// depend on the size of the file. It trusts nothing: every offset and size is
// checked, every chain must ascend, every payload has a limit. What cannot be read
// is skipped with a warning that names the offset. If the index of entries is
// damaged, the file is walked object by object instead.
//
// Package journal turns the entries into records; this package knows nothing
// of the kubelet. The layout follows the published description of the journal
// file format. Fields that are used are held against
// their hashes: what is neither the text that was written nor another text is left out.
package binary
