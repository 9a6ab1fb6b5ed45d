// SPDX-License-Identifier: Apache-2.0

package lsp

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// Position is a position as the protocol counts: line and character from 0, the
// character in UTF-16 code units.
type Position struct {
	Line      uint32 `json:"line"`
	Character uint32 `json:"character"`
}

// Range is a half-open range of positions.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// lines maps a text to its lines. A line ends with \n, \r\n or \r.
type lines struct {
	text   []byte
	starts []int
	// marks are offsets with their positions: the start of each line and, in a
	// long line, about one every markBytes, so that no conversion scans further
	// than that.
	marks []mark
}

type mark struct {
	offset int
	at     Position
}

const markBytes = 4096

func newLines(text []byte) *lines {
	l := &lines{text: text, starts: []int{0}, marks: []mark{{}}}
	var at Position
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		at.Character += units(r)
		if r == '\n' || r == '\r' && (i == len(text) || text[i] != '\n') {
			at = Position{Line: at.Line + 1}
			l.starts = append(l.starts, i)
			l.marks = append(l.marks, mark{i, at})
		} else if i-l.marks[len(l.marks)-1].offset >= markBytes && r != '\r' {
			l.marks = append(l.marks, mark{i, at})
		}
	}
	return l
}

// end returns where the text of a line ends, before its line end.
func (l *lines) end(line int) int {
	if line+1 == len(l.starts) {
		return len(l.text)
	}
	end := l.starts[line+1] - 1
	if end > l.starts[line] && l.text[end] == '\n' && l.text[end-1] == '\r' {
		end--
	}
	return end
}

// units returns the number of UTF-16 code units of a character. An editor shows
// a byte that is not valid UTF-8 as U+FFFD, which takes one.
func units(r rune) uint32 {
	if r >= 1<<16 {
		return 2
	}
	return 1
}

// offset returns the byte offset of a position. A position beyond the end of a
// line moves to that end, one beyond the last line to the end of the text, and
// one inside a character to the character's start.
func (l *lines) offset(p Position) int {
	if uint64(p.Line) >= uint64(len(l.starts)) {
		return len(l.text)
	}
	n, found := slices.BinarySearchFunc(l.marks, p, func(m mark, p Position) int {
		return cmp.Or(cmp.Compare(m.at.Line, p.Line), cmp.Compare(m.at.Character, p.Character))
	})
	if !found {
		n--
	}
	at, end := l.marks[n].offset, l.end(int(p.Line))
	for left := p.Character - l.marks[n].at.Character; at < end && left > 0; {
		r, size := utf8.DecodeRune(l.text[at:end])
		if units(r) > left {
			break
		}
		left -= units(r)
		at += size
	}
	return at
}

// position returns the position of a byte offset. Offsets outside the text move
// to its nearer end, those inside a line end to the end of the line.
func (l *lines) position(offset int) Position {
	offset = min(max(offset, 0), len(l.text))
	n, found := slices.BinarySearchFunc(l.marks, offset, func(m mark, offset int) int { return cmp.Compare(m.offset, offset) })
	if !found {
		n--
	}
	p := l.marks[n].at
	stop := min(offset, l.end(int(p.Line)))
	for at := l.marks[n].offset; at < stop; {
		r, size := utf8.DecodeRune(l.text[at:])
		if at+size > stop {
			break
		}
		p.Character += units(r)
		at += size
	}
	return p
}

func (l *lines) rangeOf(s source.Span) Range {
	return Range{l.position(int(s.Start)), l.position(int(s.End))}
}
