// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"encoding/binary"
	"sync"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
)

// Do runs an operation. It is safe for concurrent use.
type Do[Op, Ret any] func(Op) Ret

// System is a package under test, with its specification.
type System[S, Op, Ret any] struct {
	Name string
	Spec Spec[S, Op, Ret]
	// Clients is the number of clients that run at once.
	Clients int
	// Client runs some operations of its choice, one after another. It is called
	// repeatedly. It must finish within a call everything that it begins there: for
	// example, it must release each lock that it acquires.
	Client func(r env.Random, client int, do Do[Op, Ret])
	// Observe reads the whole state, after each start and before clients run. It is not
	// needed for soundness, but without it the check detects less.
	Observe func(do Do[Op, Ret])
	// Build puts the devices into a machine and returns how to open the
	// package in one of its lives, which includes the recovery. It is for
	// Simulate.
	Build func(m *mem.Machine) func(l *mem.Life) Do[Op, Ret]
	// Prepare makes what Open needs in an empty directory. It may be nil.
	Prepare func(dir string) error
	// Between is called before each life of Kill, with its number from 0. It may be nil.
	Between func(dir string, life int) error
	// Open opens the package in a directory of the file system. It is for Kill.
	Open func(dir string) (Do[Op, Ret], error)
}

// history is the events so far. It takes no events of lives that are over.
type history[Op, Ret any] struct {
	mu     sync.Mutex
	life   int
	events []Event[Op, Ret]
}

func (h *history[Op, Ret]) add(life int, e Event[Op, Ret]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if life == h.life {
		h.events = append(h.events, e)
	}
}

// crash ends the life.
func (h *history[Op, Ret]) crash() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, Event[Op, Ret]{Kind: Crash})
	h.life++
}

// watched returns a Do that records the operations of a client.
func watched[Op, Ret any](do Do[Op, Ret], client int, write func(Event[Op, Ret])) Do[Op, Ret] {
	return func(op Op) Ret {
		write(Event[Op, Ret]{Kind: Call, Client: client, Op: op})
		ret := do(op)
		write(Event[Op, Ret]{Kind: Return, Client: client, Ret: ret})
		return ret
	}
}

// Torn is the number of a block that Block did not make.
const Torn = ^uint64(0)

// Block returns a block that repeats n everywhere, so that a mixture of two
// blocks is recognized. Block 0 is zero.
func Block(n uint64) []byte {
	b := make([]byte, disk.BlockSize)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], n)
	}
	return b
}

// Number is the number of a block that Block made, and Torn for any other.
func Number(b []byte) uint64 {
	if len(b) != disk.BlockSize {
		return Torn
	}
	n := binary.LittleEndian.Uint64(b)
	for i := 8; i < len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:]) != n {
			return Torn
		}
	}
	return n
}
