// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"math"
)

// The wire encoding is self-contained: it means the same in every process, so
// it serves messages, traces and, as a string, as the key of a Go map. It is
// canonical: ParseWire accepts exactly what AppendWire writes, so that equal
// values have equal bytes.
//
//	00 FALSE   01 TRUE   02 integer: zigzag varint
//	03 string  04 model value: varint length, bytes
//	05 tuple   06 set: varint length, elements; a set is sorted
//	07 two or more contiguous integers: zigzag varint first, varint length
//	08 record: varint length, then name (length, bytes) and value for each field
//	09 function: its domain as a value, then its values
//	0A Nat, Int, Real, STRING, Any: a byte
const (
	wireFalse = iota
	wireTrue
	wireInt
	wireString
	wireModel
	wireTuple
	wireSet
	wireRange
	wireRecord
	wireFn
	wireNamed
)

// WireDepthMax bounds the nesting of values on the wire.
const WireDepthMax = 250

// AppendWire appends the wire encoding of v to buf. It enumerates sets, up to
// MaxSetSize elements. An infinite set without a name of its own, or a value
// nested deeper than WireDepthMax, is an *Error.
func AppendWire(buf []byte, v Value) []byte { return appendWire(buf, v, 0) }

func appendWire(buf []byte, v Value, depth int) []byte {
	if depth > WireDepthMax {
		fail("a value nested deeper than %d cannot be sent", WireDepthMax)
	}
	switch v.Kind() {
	case KindBool:
		return append(buf, byte(v.n))
	case KindInt:
		return binary.AppendUvarint(append(buf, wireInt), zigzag(v.n))
	case KindString:
		return appendWireText(append(buf, wireString), v.text())
	case KindModel:
		return appendWireText(append(buf, wireModel), v.text())
	case KindTuple:
		return appendWireList(append(buf, wireTuple), v.elements(), depth)
	case KindRecord:
		es := v.elements()
		buf = binary.AppendUvarint(append(buf, wireRecord), uint64(len(es)))
		for i, k := range v.ref.info.keys {
			buf = appendWire(appendWireText(buf, k.text()), es[i], depth+1)
		}
		return buf
	case KindFn:
		if v.bits == bitsFnLazy {
			return appendWire(buf, v.Normal(), depth)
		}
		buf = appendWire(append(buf, wireFn), v.Domain(), depth+1)
		for _, e := range v.ref.elems {
			buf = appendWire(buf, e, depth+1)
		}
		return buf
	case KindSet:
		return appendWireSet(buf, v, depth)
	}
	fail("no value cannot be sent")
	return nil
}

func appendWireSet(buf []byte, v Value, depth int) []byte {
	switch v.sub() {
	case setEnum, setInterval:
	case setNat, setInt, setReal, setString, setAny:
		return append(buf, wireNamed, v.sub())
	default:
		if !IsFinite(v) {
			fail("the infinite set %s cannot be sent", Brief(v))
		}
		v = enumerated(v)
	}
	if lo, hi, ok := v.AsInterval(); ok && lo < hi {
		buf = binary.AppendUvarint(append(buf, wireRange), zigzag(lo))
		return binary.AppendUvarint(buf, uint64(int64(hi)-int64(lo)+1))
	}
	return appendWireList(append(buf, wireSet), enumerated(v).elements(), depth)
}

func appendWireText(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

func appendWireList(buf []byte, es []Value, depth int) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(es)))
	for _, e := range es {
		buf = appendWire(buf, e, depth+1)
	}
	return buf
}

// ParseWire reads a value that AppendWire wrote and returns the remaining
// bytes. It is safe on any input: it allocates at most a small multiple of the
// input's length.
func ParseWire(buf []byte) (v Value, rest []byte, err error) {
	w := wireReader{decoder{buf: buf}}
	if err := Catch(func() { v = w.value(0) }); err != nil {
		w.fail("%v", err)
	}
	if w.err != nil {
		return Value{}, nil, w.err
	}
	return v, w.buf, nil
}

// wireReader reads the wire encoding with the primitives of decoder.
type wireReader struct{ decoder }

// number reads a varint in its shortest form.
func (w *wireReader) number() uint64 {
	u, n := binary.Uvarint(w.buf)
	if n <= 0 || n > 1 && w.buf[n-1] == 0 {
		w.fail("a number is malformed")
		return 0
	}
	w.buf = w.buf[n:]
	return u
}

func (w *wireReader) int32() int32 {
	u := w.number()
	if u > math.MaxUint32 {
		w.fail("a number of more than 32 bits")
		return 0
	}
	return unzigzag(u)
}

// count reads a length and fails if fewer bytes than that remain.
func (w *wireReader) count() int {
	u := w.number()
	if u > uint64(len(w.buf)) {
		w.fail("a length of %d with %d bytes left", u, len(w.buf))
		return 0
	}
	return int(u)
}

func (w *wireReader) text() string {
	n := w.count()
	s := string(w.buf[:n])
	w.buf = w.buf[n:]
	return s
}

func (w *wireReader) value(depth int) Value {
	if depth > WireDepthMax {
		return w.fail("it is nested deeper than %d", WireDepthMax)
	}
	tag := w.byte()
	if w.err != nil {
		return Value{}
	}
	switch tag {
	case wireFalse, wireTrue:
		return Bool(tag == wireTrue)
	case wireInt:
		return Int(w.int32())
	case wireString:
		return String(w.text())
	case wireModel:
		return Model(w.text())
	case wireTuple:
		v, es := NewTuple(w.count())
		w.elems(es, depth)
		return v
	case wireSet:
		return w.set(depth)
	case wireRange:
		return w.interval()
	case wireRecord:
		return w.record(depth)
	case wireFn:
		return w.fn(depth)
	case wireNamed:
		sub := w.byte()
		if sub < setNat || sub > setString && sub != setAny {
			return w.fail("no named set has the number %d", sub)
		}
		return named(uint32(sub))
	}
	return w.fail("no value has the tag %#x", tag)
}

// elems fills es, and stops at the first error.
func (w *wireReader) elems(es []Value, depth int) {
	for i := range es {
		if es[i] = w.value(depth + 1); w.err != nil {
			return
		}
	}
}

func (w *wireReader) set(depth int) Value {
	n := w.count()
	if n == 0 {
		return EmptySet()
	}
	nd := newNode(n)
	w.elems(nd.elems, depth)
	if w.err != nil {
		return Value{}
	}
	for i := 1; i < n; i++ {
		if Compare(nd.elems[i-1], nd.elems[i]) >= 0 {
			return w.fail("the elements of a set are not sorted")
		}
	}
	if _, _, ok := contiguous(nd.elems); ok && n > 1 {
		return w.fail("contiguous integers are not written as such")
	}
	return Value{bits: bitsEnum, n: int32(n), ref: nd}
}

func (w *wireReader) interval() Value {
	lo, n := w.int32(), w.number()
	if n < 2 || n > 1<<32 || int64(lo)+int64(n)-1 > math.MaxInt32 {
		return w.fail("an interval of %d integers from %d", n, lo)
	}
	return Interval(lo, int32(int64(lo)+int64(n)-1))
}

func (w *wireReader) record(depth int) Value {
	n := w.count()
	if n == 0 {
		return w.fail("a record without fields")
	}
	names, vals := newNode(n), newNode(n)
	for i := range n {
		name := w.text()
		if w.err != nil {
			return Value{}
		}
		if i > 0 && name <= names.elems[i-1].text() {
			return w.fail("the fields of a record are not sorted")
		}
		names.elems[i] = String(name)
		if vals.elems[i] = w.value(depth + 1); w.err != nil {
			return Value{}
		}
	}
	return fnOn(Value{bits: bitsEnum, n: int32(n), ref: names}, vals)
}

func (w *wireReader) fn(depth int) Value {
	domain := w.value(depth + 1)
	if w.err != nil {
		return Value{}
	}
	lo, hi, ranged := domain.AsInterval()
	switch {
	case ranged && (lo == 1 || int64(hi)-int64(lo) >= int64(len(w.buf))):
		return w.fail("a function on %d..%d", lo, hi)
	case !ranged && (domain.bits != bitsEnum || domain.n == 0 || int(domain.n) > len(w.buf)):
		return w.fail("the domain of a function is %s", Brief(domain))
	}
	v, es := NewFn(domain)
	if v.Kind() == KindRecord {
		return w.fail("a record is written as a function")
	}
	w.elems(es, depth)
	return v
}
