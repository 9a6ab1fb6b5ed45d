// SPDX-License-Identifier: Apache-2.0

package value

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Codec encodes values into canonical bytes: within one Codec two values are
// equal exactly when their encodings are. Strings, model values and the domains
// of functions are numbered in the order in which they are first met, so the
// bytes mean nothing to another Codec, and a checker that wants the same bytes
// in every run names its symbols beforehand. It is safe for concurrent use.
//
// A value starts with a tag byte. Numbers, symbols and lengths that are small
// are part of it:
//
//	00, 01       FALSE, TRUE
//	02..0F       the tags below, with operands
//	10..1F       a tuple of 0..15 elements
//	20..2F       a set of 0..15 elements
//	30..3F       a function or record whose domain is number 0..15
//	40..BF       the integers -16..111
//	C0..DF       the strings 0..31
//	E0..FF       the model values 0..31
type Codec struct {
	strings, models, domains symbols
}

// symbols assigns numbers to values. Only add writes to it, and holds mu. The
// published list shares its memory with the shorter lists published before.
type symbols struct {
	mu      sync.Mutex
	numbers sync.Map // text or encoded domain -> uint32
	list    atomic.Pointer[[]Value]
}

func (t *symbols) values() []Value {
	if l := t.list.Load(); l != nil {
		return *l
	}
	return nil
}

// add assigns a number to v, which has the given key. It fails if limit values
// are numbered already.
func (t *symbols) add(key string, v Value, limit int) (uint32, bool) {
	if n, ok := t.numbers.Load(key); ok {
		return n.(uint32), true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n, ok := t.numbers.Load(key); ok {
		return n.(uint32), true
	}
	list := t.values()
	if len(list) >= limit {
		return 0, false
	}
	n := uint32(len(list))
	list = append(list, v)
	t.list.Store(&list)
	t.numbers.Store(key, n)
	return n, true
}

// symbol caches in a node the number that a Codec assigned to it.
type symbol struct {
	codec  *Codec
	number uint32
}

// DomainsMax limits the number of domains that a Codec numbers. After that,
// functions on new domains are encoded together with their arguments.
const DomainsMax = 1 << 16

const (
	tagFalse = iota
	tagTrue
	tagInt    // zigzag varint
	tagString // varint number
	tagModel  // varint number
	tagTuple  // varint length, elements
	tagSet    // varint length, elements
	tagRange  // zigzag varint first, varint length: two or more contiguous integers
	tagFn     // varint number of a domain, values
	tagFnAny  // domain as a value, values
	tagFnFrom // zigzag varint first argument, varint length, values
	tagNamed  // byte: Nat, Int, Real, STRING, Any
	tagForm   // byte: the form of an infinite set, varint length, operands

	tagTuple0  = 0x10
	tagSet0    = 0x20
	tagFn0     = 0x30
	tagInt0    = 0x40
	tagString0 = 0xC0
	tagModel0  = 0xE0

	shortLen   = 16
	shortText  = 32
	shortLow   = -16
	shortHigh  = 111
	zeroOffset = tagInt0 - shortLow
)

// NewCodec returns a Codec that numbers the strings and model values in the
// given list first.
func NewCodec(texts ...Value) *Codec {
	c := &Codec{}
	for _, t := range texts {
		c.number(t.ref.info, t)
	}
	return c
}

// number returns the number of v, which is a string, a model value or a domain;
// in is its info. It returns false if the limit of numbered domains is reached.
func (c *Codec) number(in *info, v Value) (uint32, bool) {
	if s := in.symbol.Load(); s != nil && s.codec == c {
		return s.number, true
	}
	n, ok := c.numberSlow(v)
	if ok {
		in.symbol.Store(&symbol{c, n})
	}
	return n, ok
}

func (c *Codec) numberSlow(v Value) (uint32, bool) {
	switch v.Kind() {
	case KindString:
		return c.strings.add(v.text(), v, math.MaxInt32)
	case KindModel:
		return c.models.add(v.text(), v, math.MaxInt32)
	}
	return c.domains.add(string(c.AppendTo(nil, v)), v, DomainsMax)
}

func zigzag(i int32) uint64   { return uint64(uint32(i<<1) ^ uint32(i>>31)) }
func unzigzag(u uint64) int32 { return int32(uint32(u)>>1) ^ -int32(u&1) }

// AppendTo appends the encoding of v to buf. It enumerates sets, up to
// MaxSetSize elements. An infinite set that is a union, a difference or a
// filter is an *Error.
func (c *Codec) AppendTo(buf []byte, v Value) []byte { return c.append(buf, v, 0) }

func (c *Codec) append(buf []byte, v Value, depth int) []byte {
	if depth > DepthMax {
		fail("a value nested deeper than %d cannot be part of a state", DepthMax)
	}
	switch v.Kind() {
	case KindBool:
		return append(buf, byte(v.n))
	case KindInt:
		if v.n >= shortLow && v.n <= shortHigh {
			return append(buf, byte(v.n+zeroOffset))
		}
		return binary.AppendUvarint(append(buf, tagInt), zigzag(v.n))
	case KindString:
		n, _ := c.number(v.ref.info, v)
		return appendNumber(buf, n, shortText, tagString0, tagString)
	case KindModel:
		n, _ := c.number(v.ref.info, v)
		return appendNumber(buf, n, shortText, tagModel0, tagModel)
	case KindTuple:
		es := v.elements()
		return c.appendElems(appendNumber(buf, uint32(len(es)), shortLen, tagTuple0, tagTuple), es, depth)
	case KindRecord, KindFn:
		return c.appendFn(buf, v, depth)
	case KindSet:
		return c.appendSet(buf, v, depth)
	}
	fail("a variable without a value cannot be stored")
	return nil
}

func appendNumber(buf []byte, n, short uint32, tag0, tag byte) []byte {
	if n < short {
		return append(buf, tag0+byte(n))
	}
	return binary.AppendUvarint(append(buf, tag), uint64(n))
}

func (c *Codec) appendElems(buf []byte, es []Value, depth int) []byte {
	for i := range es {
		buf = c.append(buf, es[i], depth+1)
	}
	return buf
}

func (c *Codec) appendFn(buf []byte, v Value, depth int) []byte {
	switch v.bits {
	case bitsFnLazy:
		return c.append(buf, v.Normal(), depth)
	case bitsFnInterval:
		buf = binary.AppendUvarint(append(buf, tagFnFrom), zigzag(v.n))
		buf = binary.AppendUvarint(buf, uint64(len(v.ref.elems)))
		return c.appendElems(buf, v.ref.elems, depth)
	}
	in := v.ref.info
	if n, ok := c.number(in, in.set); ok {
		buf = appendNumber(buf, n, shortLen, tagFn0, tagFn)
	} else {
		buf = c.append(append(buf, tagFnAny), in.set, depth+1)
	}
	return c.appendElems(buf, v.ref.elems, depth)
}

func (c *Codec) appendSet(buf []byte, v Value, depth int) []byte {
	switch v.sub() {
	case setEnum, setInterval:
	case setNat, setInt, setReal, setString, setAny:
		return append(buf, tagNamed, v.sub())
	default:
		if !IsFinite(v) {
			return c.appendInfinite(buf, v, depth)
		}
		v = enumerated(v)
	}
	if lo, hi, ok := v.AsInterval(); ok && lo < hi {
		buf = binary.AppendUvarint(append(buf, tagRange), zigzag(lo))
		return binary.AppendUvarint(buf, uint64(int64(hi)-int64(lo)+1))
	}
	es := enumerated(v).elements()
	return c.appendElems(appendNumber(buf, uint32(len(es)), shortLen, tagSet0, tagSet), es, depth)
}

// appendInfinite encodes an infinite set by its form, which determines the set.
func (c *Codec) appendInfinite(buf []byte, v Value, depth int) []byte {
	switch v.sub() {
	case setSeqs, setSubsets, setFns, setRecords, setTimes:
		buf = binary.AppendUvarint(append(buf, tagForm, v.sub()), uint64(len(v.ref.elems)))
		return c.appendElems(buf, v.ref.elems, depth)
	}
	fail("the infinite set %s cannot be part of a state", Brief(v))
	return nil
}

// Decode reads a value that AppendTo of the same Codec wrote and returns the
// remaining bytes. Bytes that AppendTo cannot have written are an error.
func (c *Codec) Decode(buf []byte) (Value, []byte, error) {
	d := decoder{codec: c, buf: buf}
	v := d.value(0)
	if d.err != nil {
		return Value{}, nil, d.err
	}
	return v, d.buf, nil
}

var errEncoding = errors.New("not the encoding of a value")

// DepthMax limits the nesting depth of encoded values.
const DepthMax = 10_000

// decoder reads from buf until the first error.
type decoder struct {
	codec *Codec
	buf   []byte
	err   error
}

func (d *decoder) fail(format string, args ...any) Value {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{errEncoding}, args...)...)
	}
	d.buf = nil
	return Value{}
}

func (d *decoder) byte() byte {
	if len(d.buf) == 0 {
		d.fail("it ends early")
		return 0
	}
	b := d.buf[0]
	d.buf = d.buf[1:]
	return b
}

func (d *decoder) uvarint() uint64 {
	u, n := binary.Uvarint(d.buf)
	if n <= 0 {
		d.fail("a number is malformed")
		return 0
	}
	d.buf = d.buf[n:]
	return u
}

// length reads a length and fails if fewer bytes than that remain.
func (d *decoder) length() int {
	u := d.uvarint()
	if u > uint64(len(d.buf)) {
		d.fail("a length of %d with %d bytes left", u, len(d.buf))
		return 0
	}
	return int(u)
}

func (d *decoder) value(depth int) Value {
	if depth > DepthMax {
		return d.fail("it is nested deeper than %d", DepthMax)
	}
	tag := d.byte()
	switch {
	case d.err != nil:
		return Value{}
	case tag >= tagModel0:
		return d.symbol(&d.codec.models, uint64(tag-tagModel0))
	case tag >= tagString0:
		return d.symbol(&d.codec.strings, uint64(tag-tagString0))
	case tag >= tagInt0:
		return Int(int32(tag) - zeroOffset)
	case tag >= tagFn0:
		return d.fn(d.symbol(&d.codec.domains, uint64(tag-tagFn0)), depth)
	case tag >= tagSet0:
		return d.set(int(tag-tagSet0), depth)
	case tag >= tagTuple0:
		return d.tuple(int(tag-tagTuple0), depth)
	}
	switch tag {
	case tagFalse, tagTrue:
		return Bool(tag == tagTrue)
	case tagInt:
		return Int(unzigzag(d.uvarint()))
	case tagString:
		return d.symbol(&d.codec.strings, d.uvarint())
	case tagModel:
		return d.symbol(&d.codec.models, d.uvarint())
	case tagTuple:
		return d.tuple(d.length(), depth)
	case tagSet:
		return d.set(d.length(), depth)
	case tagRange:
		lo := unzigzag(d.uvarint())
		hi := int64(lo) + int64(d.uvarint()&0x1_FFFF_FFFF) - 1
		if hi != int64(int32(hi)) {
			return d.fail("an interval ends at %d", hi)
		}
		return Interval(lo, int32(hi))
	case tagFn:
		return d.fn(d.symbol(&d.codec.domains, d.uvarint()), depth)
	case tagFnAny:
		return d.fn(d.value(depth+1), depth)
	case tagFnFrom:
		return d.fnFrom(depth)
	case tagNamed:
		sub := d.byte()
		if sub < setNat || sub > setString && sub != setAny {
			return d.fail("no named set has the number %d", sub)
		}
		return named(uint32(sub))
	case tagForm:
		return d.form(depth)
	}
	return d.fail("no value has the tag %#x", tag)
}

// symbol is entry n of a table.
func (d *decoder) symbol(t *symbols, n uint64) Value {
	list := t.values()
	if n >= uint64(len(list)) {
		return d.fail("the symbol %d is not known", n)
	}
	return list[n]
}

func (d *decoder) elems(es []Value, depth int) {
	for i := range es {
		es[i] = d.value(depth + 1)
	}
}

func (d *decoder) tuple(n, depth int) Value {
	v, es := NewTuple(n)
	d.elems(es, depth)
	return v
}

func (d *decoder) set(n, depth int) Value {
	if n == 0 {
		return EmptySet()
	}
	nd := newNode(n)
	d.elems(nd.elems, depth)
	return Value{bits: bitsEnum, n: int32(n), ref: nd}
}

func (d *decoder) fn(domain Value, depth int) Value {
	if d.err != nil {
		return Value{}
	}
	if domain.bits != bitsEnum || int(domain.n) > len(d.buf) || domain.n == 0 {
		return d.fail("%s is not the domain of a function here", Brief(domain))
	}
	nd := newNode(int(domain.n))
	d.elems(nd.elems, depth)
	return fnOn(domain, nd)
}

func (d *decoder) fnFrom(depth int) Value {
	lo := unzigzag(d.uvarint())
	n := d.length()
	if n == 0 || lo == 1 || int64(lo)+int64(n)-1 != int64(lo+int32(n)-1) {
		return d.fail("a function on %d integers from %d", n, lo)
	}
	nd := newNode(n)
	d.elems(nd.elems, depth)
	return Value{bits: bitsFnInterval, n: lo, ref: nd}
}

func (d *decoder) form(depth int) Value {
	sub := d.byte()
	n := d.length()
	if sub < setSeqs || sub > setTimes || n == 0 || sub == setFns && n != 2 || (sub == setSeqs || sub == setSubsets) && n != 1 {
		return d.fail("no form of set has the number %d and %d operands", sub, n)
	}
	operands := make([]Value, n)
	d.elems(operands, depth)
	for _, s := range operands {
		if s.Kind() != KindSet {
			return d.fail("an operand of a set is not a set")
		}
	}
	if sub == setRecords {
		operands[0] = enumerated(operands[0])
		if len(operands[0].elements()) != n-1 {
			return d.fail("a set of records with %d names and %d sets", operands[0].n, n-1)
		}
	}
	return symbolic(uint32(sub), operands...)
}
