// SPDX-License-Identifier: Apache-2.0

package program

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// KeyMachine is the compiled code of a model with a symmetry or a view.
type KeyMachine interface {
	Machine
	// Key writes the key of the state cur to name, which has as many words as
	// Sizes.Key bytes take; ok is false if the code stopped. The bytes are the key
	// that the calling process uses for the state, so each of the two processes
	// recognises the states that the other has found.
	Key(cur, name []uint64) (ok bool)
}

// keyedWorker is a worker of a model that distinguishes states by keys.
type keyedWorker struct {
	*worker
	names KeyMachine
	name  []uint64
	bytes []byte
}

// Capabilities is what the worker inside supports, with keys.
func (w *keyedWorker) Capabilities() check.Capabilities {
	can := w.worker.Capabilities()
	can.Key = w.Key
	return can
}

func newKeyedWorker(w *worker) *keyedWorker {
	words := (w.m.Sizes.Key + 7) / 8
	return &keyedWorker{w, w.tests.(KeyMachine), make([]uint64, words), make([]byte, 0, 8*words)}
}

// Key is the key of the candidate.
func (w *keyedWorker) Key() (check.State, error) {
	if !w.names.Key(w.next, w.name) {
		return nil, errStopped
	}
	buf := w.bytes[:0]
	for _, x := range w.name {
		buf = binary.LittleEndian.AppendUint64(buf, x)
	}
	return buf[:w.m.Sizes.Key], nil
}

// workerOf is the worker that does the rest.
func workerOf(w check.Worker) *worker {
	if k, ok := w.(*keyedWorker); ok {
		return k.worker
	}
	return w.(*worker)
}
