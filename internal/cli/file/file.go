// SPDX-License-Identifier: Apache-2.0

// Package file writes files atomically.
//
// In: a name and the content. Out: the file with the new content, or the old file and
// an error. If the name is a terminal, a pipe or a device, the package writes to it
// directly.
package file

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// Pending is a file being written. A regular file appears atomically. Any other file (a
// terminal, a pipe, the null device) is written in place, because replacing it would
// disconnect all other processes that use it.
type Pending struct {
	io.Writer
	pending *renameio.PendingFile
	through *os.File
}

// Create begins to write a file. A new file gets the given mode; an existing one
// keeps its mode. The caller must call Cleanup in any case, and Finish when
// everything is written.
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

// Finish replaces the file by the written content.
func (o *Pending) Finish() error {
	if o.through != nil {
		return o.through.Close()
	}
	return o.pending.CloseAtomicallyReplace()
}

// Cleanup removes the content of an unfinished file.
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

// Replace gives a file new content atomically, and reports whether it was
// different before.
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
