// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/binary"
	"fmt"
)

// Graph is a finite graph of states and steps, and the values of atoms. States
// are numbered from 0, those that are initial first, and each can be reached from
// one of these. A step from a state to itself changes nothing: it is understood
// and need not be there.
type Graph interface {
	// States is the number of states, Initial of those that are initial.
	States() int
	Initial() int
	// Steps is where the steps from a state lead, as AppendStep writes it. It is
	// the graph's and valid until the next call.
	Steps(s uint32) ([]byte, error)
	// Atom is the value of an atom in the state from or, if it is about steps, on
	// the step from one state to another one. It is asked for where the answer
	// needs it only. Its error ends Find, which returns it.
	Atom(i int, from, to uint32) (bool, error)
}

// AppendStep appends a step to a state to those before, the last of which leads
// to the state prev; for the first step it is the state that all begin in. It is
// the distance between the two as a varint with a sign.
func AppendStep(row []byte, prev, to uint32) []byte {
	return binary.AppendVarint(row, int64(to)-int64(prev))
}

// nextStep takes a step off the front of a row.
func nextStep(row []byte, prev uint32) (to uint32, rest []byte) {
	d, n := binary.Varint(row)
	return uint32(int64(prev) + d), row[n:]
}

// AtomKind states what an atom is about.
type AtomKind uint8

// The kinds.
const (
	// StateAtom: a predicate of the state that a step begins in.
	StateAtom AtomKind = iota
	// AngleAtom: <A>_v of a step; it is false of a stuttering step.
	AngleAtom
	// BoxAtom: [A]_v of a step; it is true of a stuttering step.
	BoxAtom
)

// Problem is what is asked of a graph.
type Problem struct {
	Atoms []AtomKind
	// Assume holds of the behaviours that count; Property should hold of them.
	Assume, Property *Formula
	// MemoryBytes, where it is not 0, bounds what Find takes beside the graph.
	MemoryBytes int64
}

// MemoryError reports that there is too little memory to decide a formula: it takes
// at least so many bytes.
type MemoryError struct {
	What       string
	Bytes, Max int64
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s take more than the %d MB of memory that are left for them", e.What, e.Max/1_000_000)
}
