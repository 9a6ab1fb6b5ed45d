// SPDX-License-Identifier: Apache-2.0

package resp

import "strconv"

// writer encodes replies for version 2 or 3 of the protocol.
type writer struct {
	b     []byte
	proto int
}

func (w *writer) line(kind byte, s string) {
	w.b = append(w.b, kind)
	// A line break in the text would end the reply early.
	for i := range len(s) {
		c := s[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		w.b = append(w.b, c)
	}
	w.b = append(w.b, '\r', '\n')
}

func (w *writer) head(kind byte, n int64) {
	w.b = append(w.b, kind)
	w.b = strconv.AppendInt(w.b, n, 10)
	w.b = append(w.b, '\r', '\n')
}

func (w *writer) ok()             { w.line('+', "OK") }
func (w *writer) simple(s string) { w.line('+', s) }
func (w *writer) error(s string)  { w.line('-', s) }
func (w *writer) int(n int64)     { w.head(':', n) }
func (w *writer) array(n int)     { w.head('*', int64(n)) }

// pairs begins a map of n names and values.
func (w *writer) pairs(n int) {
	if w.proto == 3 {
		w.head('%', int64(n))
	} else {
		w.array(2 * n)
	}
}

func (w *writer) bulk(b []byte) {
	w.head('$', int64(len(b)))
	w.b = append(w.b, b...)
	w.b = append(w.b, '\r', '\n')
}

func (w *writer) text(s string) { w.bulk([]byte(s)) }

func (w *writer) null() {
	if w.proto == 3 {
		w.b = append(w.b, "_\r\n"...)
	} else {
		w.b = append(w.b, "$-1\r\n"...)
	}
}

func (w *writer) nullArray() {
	if w.proto == 3 {
		w.b = append(w.b, "_\r\n"...)
	} else {
		w.b = append(w.b, "*-1\r\n"...)
	}
}

// value writes the result of a Get.
func (w *writer) value(r *Result) {
	if r.Found {
		w.bulk(r.Value)
	} else {
		w.null()
	}
}
