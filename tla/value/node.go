// SPDX-License-Identifier: Apache-2.0

package value

import "sync/atomic"

// node is the part of a value that is on the heap. It is immutable except for
// the caches, which may be filled several times with equal contents.
type node struct {
	// hash caches Hash; 0 means not computed yet.
	hash atomic.Uint64
	// elems holds the elements of a tuple or an enumerated set, the values of a
	// function in the order of its domain, or the operands of a symbolic set.
	elems []Value
	// info is set when the node is made: the text of a string, the domain of a
	// function, the rule of a lazy function or a filter.
	info *info
	// cache is filled in on demand: the description of a set as a domain, the
	// elements of a symbolic set, or the values of a lazy function.
	cache atomic.Pointer[cache]
}

// info is data that only some nodes have.
type info struct {
	// text is the text of a string or a model value.
	text string
	// symbol caches the number that a Codec assigned to the text or the domain.
	symbol atomic.Pointer[symbol]

	// set and keys describe the domain of a keyed function or a record.
	// Functions derived from one another share them, and the node of the domain
	// caches them.
	set   Value
	keys  []Value
	bits  uint32 // of the functions: record or keyed
	index atomic.Pointer[[]int32]

	// pred is the predicate of a filtered set; apply is the rule of a lazy
	// function.
	pred  func(Value) bool
	apply func(Value) Value
}

// cache is what has been computed from a value.
type cache struct {
	domain *info // of an enumerated set, as the domain of functions
	whole  Value // the enumeration of a symbolic set, or the whole lazy function
}

// The representations of functions.
const (
	fnKeyed    = 0 // info holds the domain, n the number of keys
	fnInterval = 1 // n is the first key
	fnLazy     = 2 // elems[0] is the domain, info.apply the rule
)

const (
	bitsInt        = uint32(KindInt)
	bitsTuple      = uint32(KindTuple)
	bitsRecord     = uint32(KindRecord)
	bitsFnKeyed    = uint32(KindFn) | fnKeyed<<8
	bitsFnInterval = uint32(KindFn) | fnInterval<<8
	bitsFnLazy     = uint32(KindFn) | fnLazy<<8
)

// textNode makes the node of a string or model value.
func textNode(s string, k Kind) *node {
	nd := &node{}
	nd.info = &info{text: s}
	nd.hash.Store(hashText(s, k))
	return nd
}

// newNode makes a node with room for n elements, in one allocation where n is
// small.
func newNode(n int) *node {
	switch n {
	case 0:
		return &node{}
	case 1:
		x := new(struct {
			node
			a [1]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 2:
		x := new(struct {
			node
			a [2]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 3:
		x := new(struct {
			node
			a [3]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 4:
		x := new(struct {
			node
			a [4]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 5:
		x := new(struct {
			node
			a [5]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 6:
		x := new(struct {
			node
			a [6]Value
		})
		x.elems = x.a[:]
		return &x.node
	case 7, 8:
		x := new(struct {
			node
			a [8]Value
		})
		x.elems = x.a[:n:n]
		return &x.node
	}
	return &node{elems: make([]Value, n)}
}

// nodeOf makes a node that owns elems.
func nodeOf(elems []Value) *node { return &node{elems: elems} }

// elements are the elements of a value whose node may be nil (empty).
func (v Value) elements() []Value {
	if v.ref == nil {
		return nil
	}
	return v.ref.elems
}
