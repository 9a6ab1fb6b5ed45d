// SPDX-License-Identifier: Apache-2.0

// Package lsp is a language server for TLA+ (with PlusCal and Modular PlusCal
// inside) and for the Dedalus dialect.
//
// In: the messages of one client, as bytes, and a Files for files that are not
// open in its editor. Out: responses, and diagnostics of the open documents.
// Serve communicates over a reader and a writer; everything below it is a step
// machine without goroutines, clocks and files: a message in, messages out.
//
// Promised: open documents take precedence over files; diagnostics carry the
// document version they were made from, and are made when no message waits, so
// that the newest version wins; no input makes the server panic; and a
// malformed message gets an error response where the protocol has one.
// Positions are in UTF-16 code units.
//
// Refused: messages over MessageBytesMax, more than DocumentsMax open
// documents, documents over source.FileBytesMax, documents that are not files,
// and a rename that would have to change anything outside the document or in a
// translation.
//
// Source: the Language Server Protocol 3.17, JSON-RPC 2.0.
package lsp

import "github.com/ashlar-dev/ashlar/internal/source"

// Limits of what a client may send.
const (
	// MessageBytesMax is the largest body of a message.
	MessageBytesMax = 2*source.FileBytesMax + 1<<20
	// HeaderBytesMax limits the length of a line of a message's header, and
	// HeaderLinesMax the number of lines.
	HeaderBytesMax = 1 << 10
	HeaderLinesMax = 16
	// DocumentsMax is the maximum number of open documents.
	DocumentsMax = 1000
	// ChangesMax is the maximum number of changes in one notification.
	ChangesMax = 10_000
	// QueueMax is the maximum number of waiting messages.
	QueueMax = 64
	// NeighboursMax is the maximum number of files in a directory that a rename
	// searches.
	NeighboursMax = 500
)

// Files is the source of modules that are not open in the editor.
type Files interface {
	// ReadFile returns the content of a file. If the file does not exist, the
	// error satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(name string) ([]byte, error)
	// List returns the names of the files in a directory.
	List(dir string) ([]string, error)
}
