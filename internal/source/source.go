// SPDX-License-Identifier: Apache-2.0

// Package source has the types that all language tools of the project share:
// files, positions in them, spans, and diagnostics with codes.
//
// In: the bytes of a file and the place of an error. Out: positions for people,
// and reports that name the place, what was expected and the repair. The
// package opens no files and knows no language.
package source

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// FileBytesMax is the largest file that a tool of the project accepts. Offsets
// are 32 bits wide; the limit also bounds the memory that a hostile input can
// make a parser use.
const FileBytesMax = 16 << 20

// File is one text, immutable once made. The zero File is not valid.
type File struct {
	// Name is how the file is shown in messages, as the user gave it.
	Name string
	// Text is the content; it is owned by the File and must not change.
	Text []byte

	lines []int32 // offset of the first byte of each line
}

// NewFile keeps text (it is not copied) under the given name.
func NewFile(name string, text []byte) *File {
	f := &File{Name: name, Text: text, lines: []int32{0}}
	for i, c := range text {
		if c == '\n' {
			f.lines = append(f.lines, int32(i+1))
		}
	}
	return f
}

// Lines says how many lines the file has; an empty file has one.
func (f *File) Lines() int { return len(f.lines) }

// Line returns the text of the 1-based line without its line end.
func (f *File) Line(line int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	start := int(f.lines[line-1])
	end := len(f.Text)
	if line < len(f.lines) {
		end = int(f.lines[line]) - 1
	}
	if end > start && f.Text[end-1] == '\r' {
		end--
	}
	return string(f.Text[start:end])
}

// Position is a place as a person counts it: line and column from 1, the
// column in characters (code points), not bytes.
type Position struct {
	Line, Column int
}

func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// Position turns a byte offset into a line and a column. Offsets outside the
// file are moved to its nearer end.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Text))
	line := sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset })
	start := int(f.lines[line-1])
	return Position{Line: line, Column: utf8.RuneCount(f.Text[start:offset]) + 1}
}

// Span is a half-open range of bytes in a file. The zero Span is "no place".
type Span struct {
	File       *File
	Start, End int32
}

// IsValid reports whether the span names a place.
func (s Span) IsValid() bool { return s.File != nil }

// Text returns the bytes of the span as a string.
func (s Span) Text() string {
	if !s.IsValid() {
		return ""
	}
	return string(s.File.Text[s.Start:s.End])
}

// From and To are the positions of the first character and of the one after
// the last.
func (s Span) From() Position { return s.File.Position(int(s.Start)) }

// To is the position one past the last character.
func (s Span) To() Position { return s.File.Position(int(s.End)) }

// Join is the smallest span that covers s and t; an invalid one is ignored.
func (s Span) Join(t Span) Span {
	switch {
	case !s.IsValid():
		return t
	case !t.IsValid() || s.File != t.File:
		return s
	}
	return Span{File: s.File, Start: min(s.Start, t.Start), End: max(s.End, t.End)}
}

// String is the form that messages start with: file:line:column.
func (s Span) String() string {
	if !s.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%s:%s", s.File.Name, s.From())
}
