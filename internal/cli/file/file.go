// SPDX-License-Identifier: Apache-2.0

// Package file writes files whole or not at all.
//
// In: a name and what to write. Out: the file with the new content, or the old one and
// an error. A terminal, a pipe or a device is written to directly.
package file

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// Pending is a file that is being written. A regular file appears whole or not at all.
// Any other file (a terminal, a pipe, the null device) is written in place: replacing it
// would take it away from all other processes.
type Pending struct {
	io.Writer
	pending *renameio.PendingFile
	through *os.File
}

// Create begins to write a file, which has what mode allows unless it is there
// already. The caller calls cleanup in any case, and finish when all is written.
func Create(name string, mode fs.FileMode) (*Pending, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &Pending{Writer: f, through: f}, nil
	}
	f, err := renameio.NewPendingFile(name, renameio.WithPermissions(mode), renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	return &Pending{Writer: f, pending: f}, nil
}

// Finish makes what was written the file.
func (o *Pending) Finish() error {
	if o.through != nil {
		return o.through.Close()
	}
	return o.pending.CloseAtomicallyReplace()
}

// Cleanup removes what is not finished.
func (o *Pending) Cleanup() {
	if o.through != nil {
		_ = o.through.Close()
		return
	}
	_ = o.pending.Cleanup()
}

// Write writes a file with this text.
func Write(name string, text []byte, mode fs.FileMode) error {
	f, err := Create(name, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer f.Cleanup()
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Finish(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Replace gives a file a new content at once, and says whether it had
// another one.
func Replace(path string, content []byte) (bool, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	if string(old) == string(content) {
		return false, nil
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return true, Write(path, content, mode)
}
