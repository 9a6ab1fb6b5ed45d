// SPDX-License-Identifier: Apache-2.0

package value

import "slices"

// Field is a field of a record.
type Field struct {
	Name string
	Val  Value
}

// Pair is an argument of a function with its value.
type Pair struct{ Key, Val Value }

// Tuple is <<elems[0], elems[1], ...>>.
func Tuple(elems ...Value) Value {
	v, es := NewTuple(len(elems))
	copy(es, elems)
	return v
}

// TupleOf is the tuple of elems. It takes ownership of elems.
func TupleOf(elems []Value) Value {
	if len(elems) == 0 {
		return Value{bits: bitsTuple}
	}
	return Value{bits: bitsTuple, n: int32(len(elems)), ref: nodeOf(elems)}
}

// NewTuple returns a tuple of n elements and the slice that holds them. The
// caller must fill the slice before using the tuple. NewTuple allocates only
// once if n is small.
func NewTuple(n int) (Value, []Value) {
	if n == 0 {
		return Value{bits: bitsTuple}, nil
	}
	nd := newNode(n)
	return Value{bits: bitsTuple, n: int32(n), ref: nd}, nd.elems
}

// Record is [f1 |-> v1, ...]. A duplicate name is an *Error. A record without
// fields is the empty tuple.
func Record(fields []Field) Value {
	pairs := make([]Pair, len(fields))
	for i, f := range fields {
		pairs[i] = Pair{String(f.Name), f.Val}
	}
	return Fn(pairs)
}

// Fn is the function with these pairs, in any order. A duplicate key is an
// *Error.
func Fn(pairs []Pair) Value {
	sorted := slices.Clone(pairs)
	slices.SortStableFunc(sorted, func(a, b Pair) int { return Compare(a.Key, b.Key) })
	keys := make([]Value, len(sorted))
	vals := make([]Value, len(sorted))
	for i, p := range sorted {
		if i > 0 && Equal(keys[i-1], p.Key) {
			fail("a function cannot have two values for the argument %s", Brief(p.Key))
		}
		keys[i], vals[i] = p.Key, p.Val
	}
	return FnOf(setOfSorted(keys), vals)
}

// FnOf is the function that maps the elements of domain, in canonical order, to
// vals. It takes ownership of vals. Both must have the same length.
func FnOf(domain Value, vals []Value) Value {
	if n := int64(len(vals)); n != int64(Cardinality(domain)) {
		fail("a function on %s needs %d values, found %d", Brief(domain), Cardinality(domain), n)
	}
	return fnOn(domain, nodeOf(vals))
}

// NewFn returns a function on domain and the slice that holds its values, in
// the canonical order of the domain. The caller must fill the slice before
// using the function.
func NewFn(domain Value) (Value, []Value) {
	n := Size(domain)
	if n > MaxSetSize {
		fail("a function on %s, of more than %d arguments, cannot be written out", Brief(domain), MaxSetSize)
	}
	nd := newNode(n)
	return fnOn(domain, nd), nd.elems
}

// fnOn is the function on domain whose values are the elements of nd.
func fnOn(domain Value, nd *node) Value {
	n := len(nd.elems)
	if n == 0 {
		return Value{bits: bitsTuple}
	}
	if domain.sub() > setInterval {
		domain = enumerated(domain)
	}
	if lo, _, ok := domain.AsInterval(); ok {
		if lo == 1 {
			return Value{bits: bitsTuple, n: int32(n), ref: nd}
		}
		return Value{bits: bitsFnInterval, n: lo, ref: nd}
	}
	return domainInfo(domain).fn(nd)
}

// fn is the function on the domain whose values are those of nd.
func (in *info) fn(nd *node) Value {
	nd.info = in
	return Value{bits: in.bits, n: int32(len(nd.elems)), ref: nd}
}

// domainInfo returns the description, as a domain of functions, of an
// enumerated set that is not an interval of integers. It is computed once per
// set and shared.
func domainInfo(domain Value) *info {
	nd := domain.ref
	if c := nd.cache.Load(); c != nil {
		return c.domain
	}
	in := &info{set: domain, keys: nd.elems, bits: bitsFnKeyed}
	if keyRank(nd.elems) == 0 {
		in.bits = bitsRecord
	}
	if !nd.cache.CompareAndSwap(nil, &cache{domain: in}) {
		return nd.cache.Load().domain
	}
	return in
}

// LazyFn is the function on domain that computes its values when it is applied.
// The domain may be infinite. Operations that need the whole function (Equal,
// Hash, EXCEPT, printing) compute it once; for an infinite domain they fail
// with an *Error. The rule must be pure.
func LazyFn(domain Value, rule func(Value) Value) Value {
	if domain.Kind() != KindSet {
		fail("the domain of a function must be a set, found %s", Describe(domain))
	}
	nd := nodeOf([]Value{domain})
	nd.info = &info{apply: rule}
	return Value{bits: bitsFnLazy, ref: nd}
}

// Normal returns v. If v is a lazy function, Normal first computes all of its
// values.
func (v Value) Normal() Value {
	if v.bits != bitsFnLazy {
		return v
	}
	if c := v.ref.cache.Load(); c != nil {
		return c.whole
	}
	domain := v.ref.elems[0]
	if !IsFinite(domain) {
		fail("the function on the infinite set %s can be applied, but not be written out", Brief(domain))
	}
	w, vals := NewFn(domain)
	i := 0
	for x := range domain.Each {
		vals[i] = v.ref.info.apply(x)
		i++
	}
	v.ref.cache.Store(&cache{whole: w})
	return w
}

// Len is the number of elements of a sequence or of bytes of a string. Any
// other value is an *Error.
func (v Value) Len() int {
	switch v.bits {
	case bitsTuple:
		return int(v.n)
	case uint32(KindString):
		return len(v.text())
	case bitsFnLazy:
		if w := v.Normal(); w.bits == bitsTuple {
			return int(w.n)
		}
	}
	failKind(v, "a sequence")
	return 0
}

// Elements are the elements of a sequence. The caller must not change the
// slice. Any other value is an *Error.
func (v Value) Elements() []Value {
	if v.bits != bitsTuple {
		if w := v.Normal(); w.bits == bitsTuple {
			return w.elements()
		}
		failKind(v, "a sequence")
	}
	return v.elements()
}

// Index is element i of a sequence, the first being 1.
func (v Value) Index(i int) Value {
	es := v.Elements()
	if i < 1 || i > len(es) {
		fail("the index %d is not in 1..%d, the domain of %s", i, len(es), Brief(v))
	}
	return es[i-1]
}

// Apply is v[x].
func (v Value) Apply(x Value) Value {
	if v.bits == bitsTuple && x.bits == uint32(KindInt) {
		if es := v.elements(); uint32(x.n-1) < uint32(len(es)) {
			return es[x.n-1]
		}
	}
	y, ok := v.Lookup(x)
	if !ok {
		failApply(v, x)
	}
	return y
}

func failApply(v, x Value) {
	if v.Kind() == KindRecord && x.Kind() == KindString {
		fail("the record %s has no field %q; its fields are %s", Brief(v), x.text(), Brief(v.Domain()))
	}
	fail("cannot apply the function %s to %s, which is not in its domain %s", Brief(v), Brief(x), Brief(v.Domain()))
}

// Lookup returns v[x], and whether x is in the domain of v. v must be a
// function.
func (v Value) Lookup(x Value) (Value, bool) {
	switch v.bits {
	case bitsTuple, bitsFnInterval, bitsFnKeyed, bitsRecord:
		if i := v.find(x); i >= 0 {
			return v.ref.elems[i], true
		}
		return Value{}, false
	case bitsFnLazy:
		if c := v.ref.cache.Load(); c != nil {
			return c.whole.Lookup(x)
		}
		if !Contains(v.ref.elems[0], x) {
			return Value{}, false
		}
		return v.ref.info.apply(x), true
	}
	fail("cannot apply %s to %s: it is not a function", Describe(v), Brief(x))
	return Value{}, false
}

// Place returns the index of v[x] in v.Values(), and whether x is in the domain
// of v. v must be a function that is not lazy.
func (v Value) Place(x Value) (int, bool) {
	i := v.find(x)
	return i, i >= 0
}

// find returns the index of x among the arguments of a function, or -1.
func (v Value) find(x Value) int {
	switch v.bits {
	case bitsTuple:
		if x.bits == uint32(KindInt) && x.n >= 1 && x.n <= v.n {
			return int(x.n - 1)
		}
	case bitsFnInterval:
		if x.bits == uint32(KindInt) {
			if i := int64(x.n) - int64(v.n); i >= 0 && i < int64(len(v.ref.elems)) {
				return int(i)
			}
		}
	case bitsFnKeyed, bitsRecord:
		return v.ref.info.find(x)
	}
	return -1
}

// scanMax is the largest number of keys for which a domain is searched
// linearly.
const scanMax = 12

// find returns the index of x among the keys, or -1.
func (in *info) find(x Value) int {
	if len(in.keys) > scanMax {
		return in.findIndexed(x)
	}
	switch x.Kind() {
	case KindBool, KindInt:
		for i := range in.keys {
			if in.keys[i].bits == x.bits && in.keys[i].n == x.n {
				return i
			}
		}
		return -1
	case KindString, KindModel:
		for i := range in.keys {
			if k := &in.keys[i]; k.n == x.n && k.bits == x.bits && (k.ref == x.ref || k.text() == x.text()) {
				return i
			}
		}
		return -1
	}
	for i := range in.keys {
		if in.keys[i].Kind() == x.Kind() && Equal(in.keys[i], x) {
			return i
		}
	}
	return -1
}

// findIndexed looks up x in a hash table of the keys, which the first call
// builds.
func (in *info) findIndexed(x Value) int {
	table := in.index.Load()
	if table == nil {
		size := 1
		for size < 2*len(in.keys) {
			size *= 2
		}
		t := make([]int32, size)
		for i := range in.keys {
			at := Hash(in.keys[i]) & uint64(size-1)
			for t[at] != 0 {
				at = (at + 1) & uint64(size-1)
			}
			t[at] = int32(i + 1)
		}
		table = &t
		in.index.Store(table)
	}
	t := *table
	mask := uint64(len(t) - 1)
	for at := Hash(x) & mask; t[at] != 0; at = (at + 1) & mask {
		k := &in.keys[t[at]-1]
		if Same(*k, x) || k.Kind() == x.Kind() && Equal(*k, x) {
			return int(t[at] - 1)
		}
	}
	return -1
}

// Field is v.name of a record.
func (v Value) Field(name string) Value {
	if v.bits == bitsRecord {
		for i, k := range v.ref.info.keys {
			if k.text() == name {
				return v.ref.elems[i]
			}
		}
		failApply(v, String(name))
	}
	if !isFn(v) {
		fail("cannot select the field %s of %s: it is not a record", name, Describe(v))
	}
	return v.Apply(String(name))
}

// Domain is DOMAIN v.
func (v Value) Domain() Value {
	switch v.bits {
	case bitsTuple:
		return Interval(1, v.n)
	case bitsFnInterval:
		return Interval(v.n, v.n+int32(len(v.ref.elems)-1))
	case bitsFnKeyed, bitsRecord:
		return v.ref.info.set
	case bitsFnLazy:
		return v.ref.elems[0]
	}
	fail("cannot take the DOMAIN of %s: it is not a function", Describe(v))
	return Value{}
}

// Values are the values of a function in the canonical order of its domain. The
// caller must not change the slice.
func (v Value) Values() []Value {
	switch v.bits {
	case bitsTuple, bitsFnInterval, bitsFnKeyed, bitsRecord:
		return v.elements()
	case bitsFnLazy:
		return v.Normal().elements()
	}
	failKind(v, "a function")
	return nil
}

// Fields calls yield for each field of a record in the order of their names.
func (v Value) Fields(yield func(name string, val Value) bool) {
	v = v.Normal()
	if v.Kind() != KindRecord {
		failKind(v, "a record")
	}
	for i, k := range v.ref.info.keys {
		if !yield(k.text(), v.ref.elems[i]) {
			return
		}
	}
}

// ExceptIndex is [v EXCEPT ![key] = val]. If key is not in the domain of v, the
// result is v itself.
func (v Value) ExceptIndex(key, val Value) Value {
	if v.bits == bitsFnLazy {
		v = v.Normal()
	}
	if !isFn(v) {
		fail("cannot use EXCEPT on %s: it is not a function", Describe(v))
	}
	i := v.find(key)
	if i < 0 || Same(v.ref.elems[i], val) {
		return v
	}
	return v.with(i, val)
}

// with returns a copy of a function with another value at index i.
func (v Value) with(i int, val Value) Value {
	nd := newNode(len(v.ref.elems))
	copy(nd.elems, v.ref.elems)
	nd.elems[i] = val
	nd.info = v.ref.info
	return Value{bits: v.bits, n: v.n, ref: nd}
}

// ExceptField is [v EXCEPT !.name = val].
func (v Value) ExceptField(name string, val Value) Value {
	if v.bits == bitsRecord {
		for i, k := range v.ref.info.keys {
			if k.text() == name {
				if Same(v.ref.elems[i], val) {
					return v
				}
				return v.with(i, val)
			}
		}
		return v
	}
	return v.ExceptIndex(String(name), val)
}

// Except is [v EXCEPT ![path[0]][path[1]]... = val]. If the path leaves a
// domain, the result is v itself.
func (v Value) Except(path []Value, val Value) Value {
	if len(path) == 0 {
		return val
	}
	if len(path) == 1 {
		return v.ExceptIndex(path[0], val)
	}
	if v.bits == bitsFnLazy {
		v = v.Normal()
	}
	if !isFn(v) {
		fail("cannot use EXCEPT on %s: it is not a function", Describe(v))
	}
	i := v.find(path[0])
	if i < 0 {
		return v
	}
	inner := v.ref.elems[i].Except(path[1:], val)
	if Same(v.ref.elems[i], inner) {
		return v
	}
	return v.with(i, inner)
}

// LengthMax limits the length of the sequences and strings that operations
// make.
const LengthMax = 1 << 22

func checkLength(n int) {
	if n > LengthMax {
		fail("a sequence or string of %d elements is too long (at most %d)", n, LengthMax)
	}
}

// Append is Append(v, x) of a sequence.
func Append(v, x Value) Value {
	es := v.Elements()
	checkLength(len(es) + 1)
	w, ws := NewTuple(len(es) + 1)
	copy(ws, es)
	ws[len(es)] = x
	return w
}

// Concat is a \o b of two sequences or two strings.
func Concat(a, b Value) Value {
	if a.Kind() == KindString && b.Kind() == KindString {
		checkLength(len(a.text()) + len(b.text()))
		return String(a.text() + b.text())
	}
	ea, eb := a.Elements(), b.Elements()
	checkLength(len(ea) + len(eb))
	if len(ea) == 0 {
		return b.Normal()
	}
	if len(eb) == 0 {
		return a.Normal()
	}
	w, ws := NewTuple(len(ea) + len(eb))
	copy(ws, ea)
	copy(ws[len(ea):], eb)
	return w
}

// Head is the first element of a sequence that is not empty.
func Head(v Value) Value {
	es := v.Elements()
	if len(es) == 0 {
		fail("Head of the empty sequence")
	}
	return es[0]
}

// Tail is a sequence, not empty, without its first element.
func Tail(v Value) Value {
	es := v.Elements()
	if len(es) == 0 {
		fail("Tail of the empty sequence")
	}
	return copyTuple(es[1:])
}

// SubSeq is elements m to n of a sequence, or those characters of a string. It
// is empty if m > n. Any other index outside the sequence is an *Error.
func SubSeq(v Value, m, n int32) Value {
	if v.Kind() == KindString {
		s := v.text()
		if m > n {
			return String("")
		}
		checkSub(v, m, n, len(s))
		return String(s[m-1 : n])
	}
	es := v.Elements()
	if m > n {
		return Value{bits: bitsTuple}
	}
	checkSub(v, m, n, len(es))
	if m == 1 && int(n) == len(es) {
		return v.Normal()
	}
	return copyTuple(es[m-1 : n])
}

func checkSub(v Value, m, n int32, length int) {
	if m < 1 || int64(n) > int64(length) {
		fail("SubSeq(%s, %d, %d): the bounds must lie in 1..%d", Brief(v), m, n, length)
	}
}

func copyTuple(es []Value) Value {
	w, ws := NewTuple(len(es))
	copy(ws, es)
	return w
}

// Merge is fs[0] @@ fs[1] @@ ...: the function on the union of the domains.
// Each value comes from the first function that is defined there.
func Merge(fs ...Value) Value {
	total := 0
	for _, f := range fs {
		if !isFn(f) {
			fail("cannot join functions by @@: %s is not a function", Describe(f))
		}
		total += len(f.Values())
	}
	pairs := make([]Pair, 0, total)
	for _, f := range fs {
		f = f.Normal()
		i := 0
		for k := range f.Domain().Each {
			pairs = append(pairs, Pair{k, f.elements()[i]})
			i++
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return Compare(a.Key, b.Key) })
	keys, vals := make([]Value, 0, total), make([]Value, 0, total)
	for _, p := range pairs {
		if n := len(keys); n > 0 && Equal(keys[n-1], p.Key) {
			continue
		}
		keys, vals = append(keys, p.Key), append(vals, p.Val)
	}
	return fnOn(setOfSorted(keys), nodeOf(vals))
}
