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

// A search that is resumed in another process has states and fingerprints of
// the one before. What these mean is in the numbers of values, which are given
// in the order in which the values are met; so the numbers are kept. What
// cannot be kept is what evaluations leave behind: registers, random numbers,
// files. A model that depends on these is not durable.

var _ check.Durable = (*Model)(nil)

// harmless are operators with effects that leave nothing behind that a later
// evaluation can see.
var harmless = map[string]bool{"Print": true, "PrintT": true, "AssertEq": true, "AssertError": true, "TLCGet": true, "TLCGetOrDefault": true, "Trace": true}

// Durable says why a search of the model cannot be kept, or nil.
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
	return fmt.Errorf("the specification uses %s, and what that leaves behind is in no checkpoint", strings.Join(slices.Compact(found), ", "))
}

// keptMax bounds a kept part of a model, in bytes.
const keptMax = 1 << 31

// Save writes the numbers of values, and what the workers know of the
// antecedents of invariants.
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
	// A program that goes on with the search (internal/search/program) knows the
	// last two parts.
	buf = m.saveBits(workers)
	if err := part(); err != nil {
		return err
	}
	return out.Flush()
}

// Restore gives values the numbers that they had.
func (m *Model) Restore(r io.Reader) error {
	in := bufio.NewReader(r)
	part := func() ([]byte, error) {
		n, err := binary.ReadUvarint(in)
		if err != nil || n > keptMax {
			return nil, errors.Join(vector.ErrKept, err)
		}
		// A length that is not true does not take memory.
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

// codecs are those whose numbers states and their keys are made of.
func (m *Model) codecs() []*vector.Codec {
	if m.orbits == nil {
		return []*vector.Codec{m.codec}
	}
	return []*vector.Codec{m.codec, m.orbits.Numbers()}
}
