// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// model is the compiled code in the form that the checker needs.
type model struct {
	job Job
	Sizes
	machine func() Machine
	workers []check.Worker // those of a search that ended

	// What a checkpoint holds: the part that only the process that started this
	// one understands, the antecedents that were true in some state, and the
	// bits that some and all states had before the checkpoint.
	values    []byte
	met       []bool
	ors, ands []uint64
}

var _ check.Durable = (*model)(nil)

// Capabilities is what else the compiled code supports.
func (m *model) Capabilities() check.ModelCapabilities {
	return check.ModelCapabilities{Remarks: m.Remarks, Durable: m}
}

func (m *model) Info() check.Info                 { return m.job.Info }
func (m *model) Show(check.State) []check.Binding { return nil }
func (m *model) Durable() error                   { return nil }

// Remarks only remembers the workers; the process that started this one makes
// the remarks.
func (m *model) Remarks(workers []check.Worker) []string {
	m.workers = workers
	return nil
}

// remarks joins the observations of the workers with those before them.
func (m *model) remarks(workers []check.Worker) (unmet []bool, ors, ands []uint64) {
	unmet = make([]bool, len(m.job.Antecedents))
	for i := range unmet {
		unmet[i] = !m.met[i]
	}
	ors, ands = slices.Clone(m.ors), slices.Clone(m.ands)
	for _, w := range workers {
		w := workerOf(w)
		left := make(map[int]bool)
		for _, i := range w.unmet {
			left[i] = true
		}
		for i := range unmet {
			unmet[i] = unmet[i] && left[i]
		}
		for i := range ors {
			ors[i] |= w.ors[i]
			ands[i] &= w.ands[i]
		}
	}
	return unmet, ors, ands
}

// errKept reports that a checkpoint does not have the form that a model writes.
var errKept = errors.New("program: what the checkpoint keeps of the model is damaged")

// Restore reads what model.Model.Save has written: parts, each preceded by its length.
// The last part holds the bits of states, the one before it those of antecedents. The
// others number values: this program neither needs nor changes them.
func (m *model) Restore(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var parts [][]byte
	var at []int
	for rest := data; len(rest) > 0; {
		n, w := binary.Uvarint(rest)
		if w <= 0 || n > uint64(len(rest)-w) {
			return errKept
		}
		at = append(at, len(data)-len(rest))
		parts = append(parts, rest[w:w+int(n)])
		rest = rest[w+int(n):]
	}
	if len(parts) < 2 {
		return errKept
	}
	unmet, seen := parts[len(parts)-2], parts[len(parts)-1]
	if len(unmet) != len(m.job.Antecedents) || len(seen) != 16*m.Words {
		return errKept
	}
	m.values = bytes.Clone(data[:at[len(parts)-2]])
	m.met = make([]bool, len(unmet))
	for i := range unmet {
		m.met[i] = unmet[i] == 0
	}
	m.ors, m.ands = make([]uint64, m.Words), make([]uint64, m.Words)
	for i := range m.ors {
		m.ors[i] = binary.LittleEndian.Uint64(seen[16*i:])
		m.ands[i] = binary.LittleEndian.Uint64(seen[16*i+8:])
	}
	return nil
}

// Save writes what Restore reads.
func (m *model) Save(out io.Writer, workers []check.Worker) error {
	unmet, ors, ands := m.remarks(workers)
	data := binary.AppendUvarint(m.values[:len(m.values):len(m.values)], uint64(len(unmet)))
	for _, is := range unmet {
		data = append(data, one(is))
	}
	data = binary.AppendUvarint(data, uint64(16*m.Words))
	for i := range ors {
		data = binary.LittleEndian.AppendUint64(data, ors[i])
		data = binary.LittleEndian.AppendUint64(data, ands[i])
	}
	_, err := out.Write(data)
	return err
}

func one(is bool) byte {
	if is {
		return 1
	}
	return 0
}
