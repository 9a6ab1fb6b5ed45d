// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"
)

// writer collects the lines of a piece of Go code. Lines may be inserted later
// at a slot.
type writer struct {
	parts []part
}

// part is a line, or a slot whose content is written later.
type part struct {
	line string
	slot *writer
}

func (w *writer) emit(format string, args ...any) {
	line := format
	if len(args) > 0 {
		line = fmt.Sprintf(format, args...)
	}
	w.parts = append(w.parts, part{line: line})
}

// slot reserves a place.
func (w *writer) slot() *writer {
	s := &writer{}
	w.parts = append(w.parts, part{slot: s})
	return s
}

func (w *writer) empty() bool {
	for _, p := range w.parts {
		if p.slot == nil || !p.slot.empty() {
			return false
		}
	}
	return true
}

func (w *writer) append(v *writer) { w.parts = append(w.parts, part{slot: v}) }

func (w *writer) writeTo(b *strings.Builder) {
	for _, p := range w.parts {
		if p.slot != nil {
			p.slot.writeTo(b)
			continue
		}
		b.WriteString(p.line)
		b.WriteByte('\n')
	}
}

func (w *writer) String() string {
	var b strings.Builder
	w.writeTo(&b)
	return b.String()
}

// header returns an expression in a form that is valid before the brace of an
// if or for: a composite literal there needs parentheses.
func header(code string) string {
	depth := 0
	for _, r := range code {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{':
			if depth == 0 {
				return "(" + code + ")"
			}
		}
	}
	return code
}
