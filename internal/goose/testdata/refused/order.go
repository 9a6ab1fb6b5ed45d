// Package order has expressions whose meaning Go leaves open.
package order

import "sync"

type box struct {
	n     uint64
	next  *box
	fixed uint64
	items []uint64
}

func newBox(n uint64) *box { return &box{n: n, fixed: n} }

func (b *box) bump() uint64 {
	b.n++
	b.items = append(b.items, b.n)
	b.next = b
	return b.n
}

func fieldBesideCall(b *box) uint64 {
	return b.n + b.bump() // WANT EvaluationOrder "may change"
}

func callBesideField(b *box) uint64 {
	return b.bump() + b.n // WANT EvaluationOrder "may change"
}

func argumentBesideCall(b *box) uint64 {
	return add(b.n, b.bump()) // WANT EvaluationOrder "may change"
}

func add(x, y uint64) uint64 { return x + y }

func insideLaterCall(b *box) uint64 {
	return b.bump() + add(b.n, 1) // WANT EvaluationOrder "may change"
}

// The arguments of a call are read before the calls after it.
func insideEarlierCall(b *box) uint64 {
	return add(b.n, 1) + b.bump()
}

// Nobody changes fixed.
func constantField(b *box) uint64 { return b.fixed + b.bump() + b.fixed }

func elementBesideCall(b *box, s []uint64) uint64 {
	return s[0] + b.bump() // WANT EvaluationOrder "may change"
}

func mapBesideCall(b *box, m map[uint64]uint64) uint64 {
	return m[0] + b.bump() // WANT EvaluationOrder "may change"
}

func returned(b *box) (uint64, uint64) {
	return b.n, b.bump() // WANT EvaluationOrder "may change"
}

func capturedVariable() uint64 {
	x := uint64(1)
	f := func() uint64 {
		x++
		return x
	}
	return x + f() // WANT EvaluationOrder "may change"
}

func addressedVariable() uint64 {
	b := box{}
	p := &b
	return b.n + p.bump() // WANT EvaluationOrder "may change"
}

// A variable that nobody else sees does not change.
func privateVariable(b *box) uint64 {
	x := b.n
	x++
	return x + b.bump()
}

func storedThrough(b *box) {
	b.next.n = b.bump() // WANT EvaluationOrder "may change"
}

func storedIn(b *box) {
	b.items[0] = b.bump() // WANT EvaluationOrder "may change"
}

func opAssigned(b *box) {
	b.n += b.bump() // WANT EvaluationOrder "may change"
}

func appended(b *box, s []uint64) []uint64 {
	return append(s, s[0], b.bump()) // WANT EvaluationOrder "may change"
}

func locked(mu *sync.Mutex, b *box) uint64 {
	mu.Lock()
	n := b.n
	mu.Unlock()
	return n
}

func lockBeside(mu *sync.Mutex, b *box) uint64 {
	return b.n + locked(mu, b) // WANT EvaluationOrder "may change"
}

func textBeside(b *box, s []byte) string {
	return string(s) + text(b) // WANT EvaluationOrder "may change"
}

func text(b *box) string {
	b.bump()
	return ""
}

func inComposite(b *box) *box {
	return &box{n: b.n, fixed: b.bump()} // WANT EvaluationOrder "may change"
}

func (b *box) total() uint64 {
	sum := b.n
	for _, x := range b.items {
		sum += x
	}
	return add(sum, b.n)
}

// Who only looks changes nothing.
func besideQuiet(b *box) uint64 { return b.n + b.total() + b.items[0] }

func (b *box) writesDeep(x uint64) uint64 {
	if x == 0 {
		return b.bump()
	}
	return add(b.writesDeep(x-1), 1)
}

func besideDeep(b *box) uint64 {
	return b.n + b.writesDeep(3) // WANT EvaluationOrder "may change"
}

func viaValue(b *box, f func() uint64) uint64 {
	return b.n + f() // WANT EvaluationOrder "may change"
}

func writesElement(s []uint64) uint64 {
	s[0] = 5
	return 1
}

func besideElement(s []uint64) uint64 {
	return s[0] + writesElement(s) // WANT EvaluationOrder "may change"
}

type inner struct {
	n   uint64
	out uint64
}

// Outer can be overwritten by another package, with all that is in it.
type Outer struct{ in inner }

func exportedHolder(o *Outer, f func() uint64) uint64 {
	return f() + o.in.n // WANT EvaluationOrder "may change"
}

type leaked struct{ n uint64 }

// Leaks gives other packages what they may overwrite.
func Leaks() []*leaked { return nil }

func leakedStruct(l *leaked, f func() uint64) uint64 {
	return f() + l.n // WANT EvaluationOrder "may change"
}

// Kept has a lock, so that nobody overwrites it, but for its exported field.
type Kept struct {
	mu   sync.Mutex
	n    uint64
	Open inner2
}

type inner2 struct{ n uint64 }

func keptField(k *Kept, f func() uint64) uint64 { return f() + k.n }

func openField(k *Kept, f func() uint64) uint64 {
	return f() + k.Open.n // WANT EvaluationOrder "may change"
}
