// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check"
	"github.com/ashlar-dev/ashlar/internal/model/program"
	"github.com/ashlar-dev/ashlar/internal/model/vector"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
)

// A search that is resumed in another process reads the states and fingerprints
// of the earlier one. Their meaning depends on the numbers of values, which are
// assigned in the order in which the values occur, so a checkpoint contains
// these numbers. It cannot contain what evaluations leave behind: registers,
// random numbers, files. A model that depends on those is not durable.

var _ check.Durable = (*Model)(nil)

// harmless has the operators whose effects no later evaluation can observe.
var harmless = map[string]bool{"Print": true, "PrintT": true, "AssertEq": true, "AssertError": true, "TLCGet": true, "TLCGetOrDefault": true, "Trace": true}

// Durable returns nil if a search of the model can be saved, and otherwise the
// reason why it cannot.
func (m *Model) Durable() error {
	var found []string
	seen := map[*core.Def]bool{}
	for _, f := range m.formulas {
		m.program.Reach(f.expr, seen, func(d *core.Def) bool {
			if program.HasEffects(d) && !harmless[d.Name] {
				found = append(found, d.Name)
			}
			return true
		})
	}
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	return fmt.Errorf("the specification uses %s, whose effects are not in a checkpoint", strings.Join(slices.Compact(found), ", "))
}

// keptMax bounds the size of one part of a checkpoint, in bytes.
const keptMax = 1 << 31

// Save writes the numbers of values, and which antecedents of invariants the
// workers have found to be true.
func (m *Model) Save(w io.Writer, workers []check.Worker) error {
	out := bufio.NewWriter(w)
	var buf []byte
	part := func() error {
		_, err := out.Write(binary.AppendUvarint(nil, uint64(len(buf))))
		if err == nil {
			_, err = out.Write(buf)
		}
		return err
	}
	for _, c := range m.codecs() {
		// The tables come first: writing them may number a symbol.
		var tables [][]byte
		for _, t := range c.Vars {
			tables = append(tables, t.Save(c, nil))
		}
		buf = c.Values.Save(nil)
		if err := part(); err != nil {
			return err
		}
		for _, buf = range tables {
			if err := part(); err != nil {
				return err
			}
		}
	}
	buf = nil
	for i := range m.antecedents {
		unmet := byte(1)
		for _, w := range workers {
			if !slices.Contains(workerOf(w).unmet, i) {
				unmet = 0
			}
		}
		buf = append(buf, unmet)
	}
	if err := part(); err != nil {
		return err
	}
	// A program that continues the search (internal/search/program) reads the
	// last two parts.
	buf = m.saveBits(workers)
	if err := part(); err != nil {
		return err
	}
	return out.Flush()
}

// Restore reads what Save has written, so that values have the same numbers
// again.
func (m *Model) Restore(r io.Reader) error {
	in := bufio.NewReader(r)
	part := func() ([]byte, error) {
		n, err := binary.ReadUvarint(in)
		if err != nil || n > keptMax {
			return nil, errors.Join(vector.ErrKept, err)
		}
		// A wrong length must not make this allocate memory.
		b, err := io.ReadAll(io.LimitReader(in, int64(n)))
		if err != nil || uint64(len(b)) != n {
			return nil, errors.Join(vector.ErrKept, err)
		}
		return b, nil
	}
	for _, c := range m.codecs() {
		b, err := part()
		if err != nil {
			return err
		}
		if rest, err := c.Values.Restore(b); err != nil || len(rest) > 0 {
			return errors.Join(vector.ErrKept, err)
		}
		for i, t := range c.Vars {
			if b, err = part(); err != nil {
				return err
			}
			if err := t.Restore(c, b); err != nil {
				return fmt.Errorf("table %d: %w", i, err)
			}
		}
	}
	b, err := part()
	if err != nil {
		return err
	}
	if len(b) != len(m.antecedents) {
		return vector.ErrKept
	}
	m.met = make([]bool, len(b))
	for i := range b {
		m.met[i] = b[i] == 0
	}
	if b, err = part(); err != nil {
		return err
	}
	return m.restoreBits(b)
}

// codecs returns the codecs that number the values in states and in their keys.
func (m *Model) codecs() []*vector.Codec {
	if m.orbits == nil {
		return []*vector.Codec{m.codec}
	}
	return []*vector.Codec{m.codec, m.orbits.Numbers()}
}
