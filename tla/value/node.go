package value

import "sync/atomic"

// node is the part of a value that lives on the heap. It is immutable but for
// the caches, which are filled in at most a few times with equal contents.
type node struct {
	// hash caches Hash; 0 where it was not asked for yet.
	hash atomic.Uint64
	// elems holds the elements of a tuple or an enumerated set, the values of
	// a function in the order of its domain, the operands of a symbolic set.
	elems []Value
	info  atomic.Pointer[info]
}

// info is what only some nodes have.
type info struct {
	// text is the text of a string or a model value.
	text string
	// symbol caches the number that a Codec gave the text or the domain.
	symbol atomic.Pointer[symbol]

	// set and keys describe the domain of a keyed function or a record: they
	// are shared by all functions that were made from one another, and hang on
	// the node of the domain itself.
	set   Value
	keys  []Value
	class domainClass
	index atomic.Pointer[[]int32]

	// pred is the predicate of a filtered set, apply the rule of a lazy
	// function; whole is the enumerated set or the function once computed.
	pred  func(Value) bool
	apply func(Value) Value
	whole atomic.Pointer[Value]
}

// domainClass says which kind of function a domain makes.
type domainClass uint8

const (
	domainOther    domainClass = iota
	domainStrings              // a record
	domainInterval             // contiguous integers: a tuple where it starts at 1
)

// The representations of functions.
const (
	fnKeyed    = 0 // info holds the domain, n the number of keys
	fnInterval = 1 // n is the first key
	fnLazy     = 2 // elems[0] is the domain, info.apply the rule
)

const (
	bitsTuple      = uint32(KindTuple)
	bitsRecord     = uint32(KindRecord)
	bitsFnKeyed    = uint32(KindFn) | fnKeyed<<8
	bitsFnInterval = uint32(KindFn) | fnInterval<<8
	bitsFnLazy     = uint32(KindFn) | fnLazy<<8
)

// textNode makes the node of a string or model value.
func textNode(s string, k Kind) *node {
	nd := &node{}
	in := &info{text: s}
	nd.info.Store(in)
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
