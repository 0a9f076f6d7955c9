package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
	"unicode/utf16"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/plegforensics/plegforensics/parse/bundle"
)

// Some files never end, or never begin: devices, and what the kernel makes up
// while it is read, such as /proc/kmsg. What is read beside the inputs has a
// limit of size, and a file that gives nothing has one of time.

// maxAside is the size of the largest file of rules or names that is read.
const maxAside = 64 << 20

// readAside reads a file of rules or of names.
func readAside(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil {
		bundle.Impatient(f, st)
	}
	return readAll(path, f)
}

func readAll(path string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxAside+1))
	if err != nil {
		return nil, bundle.Told(err)
	}
	if len(data) > maxAside {
		return nil, fmt.Errorf("%s holds more than %d MiB", path, maxAside>>20)
	}
	return asUTF8(data), nil
}

// asUTF8 turns UTF-16 with a byte order mark, as PowerShell writes it, into
// UTF-8.
func asUTF8(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(data, []byte("\xff\xfe")):
		return data
	}
	var units []uint16
	for at := 2; at+1 < len(data); at += 2 {
		units = append(units, order.Uint16(data[at:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// endless refuses standard input that is a device: one that gives nothing is
// /dev/null, and a terminal has somebody who ends it.
func endless(c *cli.Context) error {
	f, isFile := c.App.Reader.(*os.File)
	if !isFile {
		return nil
	}
	st, err := f.Stat()
	if err != nil || st.Mode()&fs.ModeDevice == 0 || term.IsTerminal(int(f.Fd())) {
		return nil
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(st, null) {
		return nil
	}
	return &exitError{exitNothing, "standard input is a device, which never ends", "give a file, or a part of the device through a pipe"}
}

// stopKey is where the end of a run with a deadline is kept.
const stopKey = "stop"

// withDeadline gives a run the time of --deadline. Batch counts it for each
// bundle.
func withDeadline(c *cli.Context) {
	d := c.Duration("deadline")
	if d <= 0 || c.Command.Name == "batch" {
		return
	}
	ctx, cancel := context.WithTimeout(c.Context, d)
	c.Context = ctx
	done := make(chan struct{})
	c.App.Metadata[stopKey] = func() {
		close(done)
		cancel()
	}
	go func() {
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return // an interrupt, which endSoon handles
		}
		select {
		case <-done:
		case <-time.After(800 * time.Millisecond): // something does not look at the context
			outputsOf(c.App).Discard()
			os.Exit(finish(c.App, overdue(c), nil))
		}
	}()
}

// overdue is the error of a run that took longer than its deadline.
func overdue(c *cli.Context) error {
	return &exitError{exitNothing, fmt.Sprintf("not done within %s", c.Duration("deadline")), "--deadline says how long a run may take"}
}

// before is what all commands do first.
func before(c *cli.Context) error {
	if err := errors.Join(hushed(c), checkArguments(c), checkVariables(c), checkValues(c)); err != nil {
		return err
	}
	withDeadline(c)
	return nil
}

// after is what all commands do last.
func after(c *cli.Context) error {
	if stop, ok := c.App.Metadata[stopKey].(func()); ok {
		delete(c.App.Metadata, stopKey)
		stop()
	}
	return nil
}
