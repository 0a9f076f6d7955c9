//go:build !unix

package output

import (
	"errors"
	"io/fs"
	"os"
)

// descriptorOf returns false: descriptors have no paths here.
func descriptorOf(string) (int, bool) { return 0, false }

func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func keepOwner(*os.File, fs.FileInfo) {}
