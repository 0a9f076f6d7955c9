package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// member is a file of an archive.
type member struct {
	name string
	mode int64
	data []byte
}

// pack creates an archive of the format given by the extension of name. Names, order, times and
// owners do not depend on the machine.
func pack(name string, files []member, at time.Time) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b member) int { return strings.Compare(a.name, b.name) })
	if strings.HasSuffix(name, ".zip") {
		return packZip(files, at)
	}
	return packTar(files, at)
}

func packTar(files []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func packZip(files []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// checksums writes the SHA-256 of every file in the format of sha256sum.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := checksum(filepath.Join(r.dist, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	fmt.Print(b.String())
	return os.WriteFile(filepath.Join(r.dist, "SHA256SUMS"), []byte(b.String()), 0o644)
}

func checksum(path string) (string, error) {
	data, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(data)), err
}
