// SPDX-License-Identifier: Apache-2.0

package tracelog

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Appender receives the lines. The Writer writes each line with one call, and
// uses its memory again after it.
type Appender interface {
	Append(b []byte) error
}

// Format is the Header's Format.
const Format = "ashlar-trace"

// Writer writes the log of one instance. Only one goroutine may use it.
type Writer struct {
	to   Appender
	line []byte
}

// bufferKept is the largest line of which the Writer keeps the memory.
const bufferKept = 64 << 10

// NewWriter writes the header. It sets Format and Version.
func NewWriter(to Appender, h Header) (*Writer, error) {
	h.Format, h.Version = Format, Version
	b, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	w := &Writer{to: to, line: b}
	return w, w.end()
}

// Record writes an event with one call of the Appender.
func (w *Writer) Record(e *Event) error {
	w.line = w.line[:0]
	w.event(e)
	return w.end()
}

// end writes the line.
func (w *Writer) end() error {
	b := w.line
	if w.line = b[:0]; cap(b) > bufferKept {
		w.line = nil
	}
	if len(b) >= LineMax {
		return fmt.Errorf("a trace line of %d bytes exceeds the limit of %d", len(b), LineMax)
	}
	return w.to.Append(append(b, '\n'))
}

// event appends an event. encoding/json would take a third of the time of a
// traced section.
func (w *Writer) event(e *Event) {
	w.number(`{"n":`, e.N)
	w.text(`,"label":`, e.Label)
	w.text(`,"next":`, e.Next)
	for i := range e.Elements {
		w.list(i, `,"elements":[`)
		w.element(&e.Elements[i])
	}
	w.listEnd(len(e.Elements))
	for i, v := range e.Vars {
		w.list(i, `,"vars":[`)
		w.text(`{"name":`, v.Name)
		w.text(`,"value":`, v.Value)
		w.put("}")
	}
	w.listEnd(len(e.Vars))
	if e.Kept {
		w.put(`,"kept":true`)
	}
	w.put(`,"clock":`)
	if e.Clock == nil {
		w.put("null")
	} else {
		w.put("[")
	}
	for i, t := range e.Clock {
		w.list(i, "")
		w.text(`{"actor":`, t.Actor)
		w.number(`,"n":`, t.N)
		w.put("}")
	}
	if e.Clock != nil {
		w.put("]")
	}
	w.put(`,"start":`)
	w.line = strconv.AppendInt(w.line, e.Start, 10)
	w.put(`,"end":`)
	w.line = strconv.AppendInt(w.line, e.End, 10)
	if e.Aborted != "" {
		w.text(`,"aborted":`, e.Aborted)
	}
	w.put("}")
}

func (w *Writer) element(e *Element) {
	w.text(`{"op":`, e.Op)
	w.text(`,"name":`, e.Name)
	for i, x := range e.Indices {
		w.list(i, `,"indices":[`)
		w.text("", x)
	}
	w.listEnd(len(e.Indices))
	w.text(`,"value":`, e.Value)
	w.put("}")
}

// list begins item i of a list that is left out if it is empty; listEnd ends a
// list of n.
func (w *Writer) list(i int, begin string) {
	if i > 0 {
		begin = ","
	}
	w.put(begin)
}

func (w *Writer) listEnd(n int) {
	if n > 0 {
		w.put("]")
	}
}

func (w *Writer) put(s string) { w.line = append(w.line, s...) }

func (w *Writer) number(key string, n uint64) {
	w.put(key)
	w.line = strconv.AppendUint(w.line, n, 10)
}

// text appends a key and a string. encoding/json escapes what is not plain.
func (w *Writer) text(key, s string) {
	w.put(key)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b, err := json.Marshal(s)
			if err != nil {
				panic(err) // a string has an encoding
			}
			w.line = append(w.line, b...)
			return
		}
	}
	w.line = append(append(append(w.line, '"'), s...), '"')
}
