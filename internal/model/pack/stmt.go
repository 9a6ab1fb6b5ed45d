// SPDX-License-Identifier: Apache-2.0

package pack

// sop is the operation of a statement.
type sop uint8

const (
	sGuard   sop = iota // goes on where a holds
	sStore              // stores a in field f of the next state, less k, while next runs
	sSet                // computes a into register k
	sOr                 // runs each of list
	sBits               // runs next for every set bit of words, its number in register k
	sEmit               // the next state is complete: action k
	sStop               // the code stops
	sNothing            // there is no way on
)

// stmt is a statement, including the statements that follow it. Statements may
// be shared.
type stmt struct {
	op    sop
	a     *node
	words []*node
	f     field
	k     int64
	next  *stmt
	list  []*stmt
}
