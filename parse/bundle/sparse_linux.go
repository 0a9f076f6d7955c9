package bundle

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// seekData is SEEK_DATA of lseek(2).
const seekData = 3

// nextData returns where the next data of a file begins at or behind from: its end if
// only a hole follows, and from if the file system does not tell. It moves f.
func nextData(f *os.File, from int64) int64 {
	at, err := f.Seek(from, seekData)
	if errors.Is(err, syscall.ENXIO) {
		at, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return from
	}
	return at
}
