package model

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ashlar-dev/ashlar/check"
	"github.com/ashlar-dev/ashlar/tla/core"
	"github.com/ashlar-dev/ashlar/tla/value"
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
		m.program.reach(f.expr, seen, func(d *core.Def) bool {
			if hasEffects(d) && !harmless[d.Name] {
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
		for _, t := range c.vars {
			tables = append(tables, t.save(c, nil))
		}
		buf = c.values.Save(nil)
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
	// A program that goes on with the search (cmd/internal/native) knows the
	// last two parts.
	buf = m.saveBits(workers)
	if err := part(); err != nil {
		return err
	}
	return out.Flush()
}

// errKept reports that what was kept is not of this model.
var errKept = errors.New("the values that were kept are not those of this specification")

// Restore gives values the numbers that they had.
func (m *Model) Restore(r io.Reader) error {
	in := bufio.NewReader(r)
	part := func() ([]byte, error) {
		n, err := binary.ReadUvarint(in)
		if err != nil || n > keptMax {
			return nil, errors.Join(errKept, err)
		}
		// A length that is not true does not take memory.
		b, err := io.ReadAll(io.LimitReader(in, int64(n)))
		if err != nil || uint64(len(b)) != n {
			return nil, errors.Join(errKept, err)
		}
		return b, nil
	}
	for _, c := range m.codecs() {
		b, err := part()
		if err != nil {
			return err
		}
		if rest, err := c.values.Restore(b); err != nil || len(rest) > 0 {
			return errors.Join(errKept, err)
		}
		for i, t := range c.vars {
			if b, err = part(); err != nil {
				return err
			}
			if err := t.restore(c, b); err != nil {
				return fmt.Errorf("table %d: %w", i, err)
			}
		}
	}
	b, err := part()
	if err != nil {
		return err
	}
	if len(b) != len(m.antecedents) {
		return errKept
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
func (m *Model) codecs() []*vectorCodec {
	if m.orbits == nil {
		return []*vectorCodec{m.codec}
	}
	return []*vectorCodec{m.codec, m.orbits.numbers}
}

// save appends the values of a table in the order of their numbers.
func (t *internTable) save(c *vectorCodec, buf []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	refused := byte(0)
	if t.refused {
		refused = 1
	}
	buf = binary.AppendUvarint(append(buf, refused), uint64(t.count))
	var one []byte
	for i := range t.count {
		one = c.values.AppendTo(one[:0], t.at(uint32(i)))
		buf = append(binary.AppendUvarint(buf, uint64(len(one))), one...)
	}
	return buf
}

// restore fills a table with what save wrote. What the table has already must
// be the first of it.
func (t *internTable) restore(c *vectorCodec, b []byte) error {
	if len(b) == 0 {
		return errKept
	}
	refused := b[0] == 1
	count, w := binary.Uvarint(b[1:])
	if w <= 0 || count > InternedMax || count < uint64(t.count) {
		return errKept
	}
	b = b[1+w:]
	for i := range int(count) {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > uint64(len(b)-w) {
			return errKept
		}
		v, rest, err := c.values.Decode(b[w : w+int(n)])
		if err != nil || len(rest) > 0 {
			return errors.Join(errKept, err)
		}
		b = b[w+int(n):]
		if id, ok := t.insert(v, value.Hash(v), int(n)); !ok || id != uint32(i) {
			return errKept
		}
	}
	if len(b) > 0 {
		return errKept
	}
	t.refused = refused
	return nil
}
