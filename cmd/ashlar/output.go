package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/google/renameio/v2"
)

// watchedOutput remembers that something could not be written, so that a command whose
// result is lost, on a full disk say, does not answer that all is well.
type watchedOutput struct {
	io.Writer
	mu  sync.Mutex
	err error // the first
}

// Write implements io.Writer. Several goroutines may write.
func (w *watchedOutput) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// lost is why something was not written, or nil.
func (w *watchedOutput) lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// output is a file that is written. A regular file is there whole or not at all; what
// is no regular file (a terminal, a pipe, the null device) is written to as it is: to
// replace it would take it away from everybody else.
type output struct {
	io.Writer
	pending *renameio.PendingFile
	through *os.File
}

// newOutput begins to write a file, which has what mode allows unless it is there
// already. The caller calls cleanup in any case, and finish when all is written.
func newOutput(name string, mode fs.FileMode) (*output, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &output{Writer: f, through: f}, nil
	}
	f, err := renameio.NewPendingFile(name, renameio.WithPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return &output{Writer: f, pending: f}, nil
}

// finish makes what was written the file.
func (o *output) finish() error {
	if o.through != nil {
		return o.through.Close()
	}
	return o.pending.CloseAtomicallyReplace()
}

// cleanup removes what is not finished.
func (o *output) cleanup() {
	if o.through != nil {
		_ = o.through.Close()
		return
	}
	_ = o.pending.Cleanup()
}

// writeOutput writes a file with this text.
func writeOutput(name string, text []byte, mode fs.FileMode) error {
	f, err := newOutput(name, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer f.cleanup()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.finish(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
