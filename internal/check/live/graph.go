// SPDX-License-Identifier: Apache-2.0

package live

import (
	"encoding/binary"
	"fmt"
)

// Graph is a finite graph of states and steps, and the values of atoms. States
// are numbered from 0, initial states first, and each is reachable from an
// initial state. A step from a state to itself changes nothing: it is implicit
// and need not be in the graph.
type Graph interface {
	// States is the number of states, and Initial the number of initial states.
	States() int
	Initial() int
	// Steps returns the targets of the steps from a state, as AppendStep writes
	// them. The slice belongs to the graph and is valid until the next call.
	Steps(s uint32) ([]byte, error)
	// Atom is the value of an atom in the state from or, if it is about steps, on
	// the step from one state to another one. Find calls it only if the answer
	// needs it. An error ends Find, which returns it.
	Atom(i int, from, to uint32) (bool, error)
}

// AppendStep appends a step to a row. prev is the target of the step before; for
// the first step it is the state in which all begin. The step is stored as the
// distance from prev to its target, as a signed varint.
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
	// AngleAtom: <A>_v of a step; it is false for a stuttering step.
	AngleAtom
	// BoxAtom: [A]_v of a step; it is true for a stuttering step.
	BoxAtom
)

// Problem is a question about a graph.
type Problem struct {
	Atoms []AtomKind
	// Assume selects the behaviours to consider; Property should hold for all of
	// them.
	Assume, Property *Formula
	// MemoryBytes, if not 0, bounds the memory that Find uses besides the graph.
	MemoryBytes int64
}

// MemoryError reports that there is too little memory to decide a formula, and how
// many bytes it needs at least.
type MemoryError struct {
	What       string
	Bytes, Max int64
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s take more than the %d MB of memory that are left for them", e.What, e.Max/1_000_000)
}
