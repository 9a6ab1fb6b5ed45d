// Package comments shows what becomes of comments (* even "these *) and (** those.
package comments

// Limit is how much there may be.
const Limit uint64 = 10

// In a group.
const (
	// A is documented.
	A = iota + 1
	B // B has a comment at the end of its line.
	c
)

// Pair is a pair.
type Pair struct {
	// X is one of the two.
	X uint64
	Y uint64
}

// Sum adds what is in p.
//
// It wraps around.
func (p *Pair) Sum() uint64 {
	// first one
	x := p.X
	y := p.Y // then the other

	/* A comment
	   of two lines. */
	if x > Limit {
		// too much
		return Limit // at most
	}
	for x > B { // while it is large
		x -= A + c
		// at the end of the body
	}
	return x + y
	// at the end
}

func undocumented() {
	// nothing but a comment
}
