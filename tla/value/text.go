// SPDX-License-Identifier: Apache-2.0

package value

import (
	"slices"
	"strconv"
)

// listedMax is the largest number of contiguous integers that the text of a set
// lists. Larger sets are written lo..hi.
const listedMax = 16

// symbolicListedMax is the largest size at which the text of a symbolic set
// lists its elements.
const symbolicListedMax = 4096

// textDepthMax limits the nesting depth of text, so that no value overflows the
// stack. Deeper parts are written "...".
const textDepthMax = 10_000

// String is the text of v in TLA+, on one line. Parse reads it back. Equal
// values have equal texts unless they contain sets too large to list. The text
// of an infinite filtered set, or of a lazy function on an infinite set, cannot
// be read back.
func (v Value) String() string { return string(v.AppendTo(nil)) }

// AppendTo appends the text of v to buf.
func (v Value) AppendTo(buf []byte) []byte {
	p := printer{buf: buf}
	p.value(v, 0)
	return p.buf
}

// printer writes values. If limit is set, the printer stops soon after that
// many bytes, and does not enumerate sets or compute lazy functions for the
// text.
type printer struct {
	buf   []byte
	limit int
}

func (p *printer) str(s string) { p.buf = append(p.buf, s...) }

func (p *printer) full() bool { return p.limit > 0 && len(p.buf) > p.limit }

func (p *printer) value(v Value, depth int) {
	if p.full() {
		return
	}
	if depth > textDepthMax {
		p.str("...")
		return
	}
	switch v.Kind() {
	case Undefined:
		p.str("undefined")
	case KindBool:
		if v.n != 0 {
			p.str("TRUE")
		} else {
			p.str("FALSE")
		}
	case KindInt:
		p.buf = strconv.AppendInt(p.buf, int64(v.n), 10)
	case KindString:
		p.buf = appendQuoted(p.buf, v.text())
	case KindModel:
		p.str(v.text())
	case KindTuple:
		p.str("<<")
		p.list(v.elements(), depth)
		p.str(">>")
	case KindRecord:
		if !plainFields(v.ref.info.keys) {
			p.strings(v, depth)
			return
		}
		p.str("[")
		for i, k := range v.ref.info.keys {
			if i > 0 {
				p.str(", ")
			}
			p.str(k.text())
			p.str(" |-> ")
			p.value(v.ref.elems[i], depth+1)
			if p.full() {
				return
			}
		}
		p.str("]")
	case KindFn:
		p.fn(v, depth)
	case KindSet:
		p.set(v, depth)
	}
}

// field writes the name of a field, quoted if it is not an identifier.
func (p *printer) field(name string) {
	if isIdent(name) {
		p.str(name)
	} else {
		p.buf = appendQuoted(p.buf, name)
	}
}

// plainFields reports whether all keys of a record are identifiers, because
// TLA+ has no other field names.
func plainFields(keys []Value) bool {
	for _, k := range keys {
		if !isIdent(k.text()) {
			return false
		}
	}
	return true
}

// strings writes a record with a name that is not an identifier as a function
// on strings.
func (p *printer) strings(v Value, depth int) {
	p.str("(")
	for i, k := range v.ref.info.keys {
		if i > 0 {
			p.str(" @@ ")
		}
		p.buf = appendQuoted(p.buf, k.text())
		p.str(" :> ")
		p.value(v.ref.elems[i], depth+1)
		if p.full() {
			return
		}
	}
	p.str(")")
}

func (p *printer) list(es []Value, depth int) {
	for i, e := range es {
		if i > 0 {
			p.str(", ")
		}
		p.value(e, depth+1)
		if p.full() {
			return
		}
	}
}

func (p *printer) fn(v Value, depth int) {
	if v.bits == bitsFnLazy {
		if p.limit > 0 || !IsFinite(v.ref.elems[0]) {
			p.str("[x \\in ")
			p.value(v.ref.elems[0], depth+1)
			p.str(" |-> ...]")
			return
		}
		p.value(v.Normal(), depth)
		return
	}
	p.str("(")
	for i, e := range v.ref.elems {
		if i > 0 {
			p.str(" @@ ")
		}
		if v.bits == bitsFnInterval {
			p.buf = strconv.AppendInt(p.buf, int64(v.n)+int64(i), 10)
		} else {
			p.value(v.ref.info.keys[i], depth+1)
		}
		p.str(" :> ")
		p.value(e, depth+1)
		if p.full() {
			return
		}
	}
	p.str(")")
}

func (p *printer) set(v Value, depth int) {
	if lo, hi, ok := v.AsInterval(); ok && int64(hi)-int64(lo) >= listedMax {
		p.buf = strconv.AppendInt(p.buf, int64(lo), 10)
		p.str("..")
		p.buf = strconv.AppendInt(p.buf, int64(hi), 10)
		return
	}
	switch {
	case v.sub() == setEnum || v.sub() == setInterval:
	case p.limit == 0 && v.ref != nil && isListed(v):
	default:
		p.symbolic(v, depth)
		return
	}
	p.str("{")
	p.list(enumerated(v).elements(), depth)
	p.str("}")
}

// isListed reports whether the text of a symbolic set lists its elements. That
// is so if the set is finite and small, and if finding that out takes few
// steps.
func isListed(v Value) (listed bool) {
	err := Catch(func() {
		if !IsFinite(v) {
			return
		}
		if n, ok := knownSize(v); ok {
			listed = n <= symbolicListedMax
			return
		}
		for _, s := range v.ref.elems {
			if n, ok := knownSize(s); ok && n > MaxSetSize {
				return
			}
		}
		n := 0
		for range v.each {
			if n++; n > symbolicListedMax {
				return
			}
		}
		listed = true
	})
	return err == nil && listed
}

func (p *printer) symbolic(v Value, depth int) {
	switch v.sub() {
	case setNat:
		p.str("Nat")
	case setInt:
		p.str("Int")
	case setReal:
		p.str("Real")
	case setString:
		p.str("STRING")
	case setAny:
		p.str("Any")
	case setSeqs:
		p.str("Seq(")
		p.value(v.ref.elems[0], depth+1)
		p.str(")")
	case setSubsets:
		p.str("SUBSET ")
		p.value(v.ref.elems[0], depth+1)
	case setFns:
		p.str("[")
		p.value(v.ref.elems[0], depth+1)
		p.str(" -> ")
		p.value(v.ref.elems[1], depth+1)
		p.str("]")
	case setRecords:
		p.str("[")
		for i, k := range v.ref.elems[0].elements() {
			if i > 0 {
				p.str(", ")
			}
			p.field(k.text())
			p.str(": ")
			p.value(v.ref.elems[i+1], depth+1)
		}
		p.str("]")
	case setTimes:
		p.infix(v.ref.elems, " \\X ", depth)
	case setUnion:
		p.infix(v.ref.elems, " \\cup ", depth)
	case setInter:
		p.infix(v.ref.elems, " \\cap ", depth)
	case setDiff:
		p.infix(v.ref.elems, " \\ ", depth)
	case setFilter:
		p.str("{x \\in ")
		p.value(v.ref.elems[0], depth+1)
		p.str(" : ...}")
	}
}

func (p *printer) infix(es []Value, op string, depth int) {
	p.str("(")
	for i, e := range es {
		if i > 0 {
			p.str(op)
		}
		// The operator .. binds less tightly than \X.
		start := len(p.buf)
		p.value(e, depth+1)
		if len(p.buf) > start && p.buf[start] != '{' && e.Kind() == KindSet && (e.sub() == setEnum || e.sub() == setInterval) {
			p.buf = append(slices.Insert(p.buf, start, '('), ')')
		}
	}
	p.str(")")
}

// appendQuoted writes a string literal of TLA+.
func appendQuoted(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\':
			buf = append(buf, '\\', c)
		case '\n':
			buf = append(buf, `\n`...)
		case '\t':
			buf = append(buf, `\t`...)
		case '\r':
			buf = append(buf, `\r`...)
		case '\f':
			buf = append(buf, `\f`...)
		default:
			buf = append(buf, c)
		}
	}
	return append(buf, '"')
}

// isIdent reports whether s can be written as a TLA+ identifier.
func isIdent(s string) bool {
	letter := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letter = true
		case c == '_' || c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return letter
}

// Pretty is the text of v, broken into lines of about width bytes. The elements
// of a value that does not fit on a line are written one per line, indented by
// indent more.
func (v Value) Pretty(width int) string {
	p := pretty{width: width}
	p.value(v, 0)
	return string(p.buf)
}

// pretty writes values over several lines.
type pretty struct {
	buf   []byte
	width int
}

func (p *pretty) value(v Value, indent int) {
	text := v.String()
	if indent+len(text) <= p.width || indent > textDepthMax {
		p.buf = append(p.buf, text...)
		return
	}
	v = v.Normal()
	switch {
	case v.Kind() == KindTuple:
		p.block("<<", ">>", len(v.elements()), indent, func(i, in int) { p.value(v.ref.elems[i], in) })
	case v.bits == bitsEnum && text[0] == '{':
		p.block("{", "}", len(v.elements()), indent, func(i, in int) { p.value(v.ref.elems[i], in) })
	case v.Kind() == KindRecord && plainFields(v.ref.info.keys):
		keys := v.ref.info.keys
		p.block("[", "]", len(keys), indent, func(i, in int) {
			head := keys[i].text() + " |-> "
			p.buf = append(p.buf, head...)
			p.value(v.ref.elems[i], in+len(head))
		})
	case v.Kind() == KindRecord, v.Kind() == KindFn:
		keys := v.Domain().Elems()
		p.rows("(", " @@", ")", len(keys), indent, func(i, in int) {
			head := keys[i].String() + " :> "
			p.buf = append(p.buf, head...)
			p.value(v.ref.elems[i], in+len(head))
		})
	default:
		p.buf = append(p.buf, text...)
	}
}

func (p *pretty) block(open, end string, n, indent int, item func(i, indent int)) {
	p.rows(open, ",", end, n, indent, item)
}

// rows writes n items below one another after open.
func (p *pretty) rows(open, sep, end string, n, indent int, item func(i, indent int)) {
	p.buf = append(p.buf, open...)
	p.buf = append(p.buf, ' ')
	indent += len(open) + 1
	for i := range n {
		if i > 0 {
			p.buf = append(p.buf, sep...)
			p.buf = append(p.buf, '\n')
			for range indent {
				p.buf = append(p.buf, ' ')
			}
		}
		item(i, indent)
	}
	p.buf = append(p.buf, ' ')
	p.buf = append(p.buf, end...)
}
