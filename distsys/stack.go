// SPDX-License-Identifier: Apache-2.0

package distsys

// StackDepthMax bounds the nesting of procedure calls in one instance.
const StackDepthMax = 10_000

// Stack is the call stack of an instance, stored in a field of its S. It is
// immutable, so a copy of the S remains valid. F holds what a call must save: the
// procedure's variables as they were before the call. If an archetype calls several
// procedures, F is a struct of all their variables or an interface. The zero Stack
// is empty.
//
//	call P(e):  s.stack, err = s.stack.Push(labelAfter, s.p)   // save
//	            s.p = p{x: e}                                  // parameters, then locals
//	            return labelP, err
//	return:     label, s.p, s.stack = s.stack.Pop()
//	            return label, nil
type Stack[F any] struct{ top *frame[F] }

type frame[F any] struct {
	saved F
	ret   Label
	depth int
	below *frame[F]
}

// Push returns the stack with a call on top, or ErrStackOverflow.
func (s Stack[F]) Push(ret Label, saved F) (Stack[F], error) {
	depth := s.Depth() + 1
	if depth > StackDepthMax {
		return s, ErrStackOverflow
	}
	return Stack[F]{&frame[F]{saved: saved, ret: ret, depth: depth, below: s.top}}, nil
}

// Pop returns the label to continue at, the saved variables, and the stack
// below. On an empty stack the label is Error: there was no call to return
// from.
func (s Stack[F]) Pop() (Label, F, Stack[F]) {
	if s.top == nil {
		var none F
		return Error, none, s
	}
	return s.top.ret, s.top.saved, Stack[F]{s.top.below}
}

// Depth is the number of calls on the stack.
func (s Stack[F]) Depth() int {
	if s.top == nil {
		return 0
	}
	return s.top.depth
}
