// SPDX-License-Identifier: Apache-2.0

// Package mem simulates the devices of goose/primitive in memory, for tests,
// with the crashes that their models allow.
//
// A device is hardware: it outlives the crashes of its Machine. A Life is the
// time from one start of the machine to the next crash; Open of a device gives
// a handle for a life, as a program would get it. A life counts the operations
// on all devices and can crash before any of them. From then on no operation
// through a handle of that life has an effect, and a goroutine that calls one
// exits there after running its deferred functions. Choose picks what the crash
// leaves of data that were not durable, among all outcomes that the models
// allow.
package mem

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Choose returns a number from 0 to n-1, for n of at least 1. It makes the
// choices that a model leaves open. Among the contents that a crash may leave,
// 0 is the latest and n-1 the oldest.
type Choose func(n int) int

// Machine has the devices. It is safe for concurrent use.
type Machine struct {
	mu      sync.Mutex
	choose  Choose
	devices []device
	life    *Life // nil: it is off
	lives   uint64
}

// device is notified of a crash, with the machine locked.
type device interface{ crash() }

// NewMachine is a machine without devices, which is off. It calls choose for
// one thing at a time.
func NewMachine(choose Choose) *Machine { return &Machine{choose: choose} }

// Life is the time between the start of a machine and its next crash.
type Life struct {
	machine *Machine
	limit   int // crash before this operation, counted from 1; 0: never
	ops     int
	turns   atomic.Uint64 // like ops, and from another number in each life
	over    chan struct{}
}

// Boot starts the machine, which is off. It crashes before the operation of
// that number, counted from 1; with 0, when Crash is called.
func (m *Machine) Boot(crashBefore int) *Life {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life != nil {
		panic("mem: the machine is already on")
	}
	m.lives++
	m.life = &Life{machine: m, limit: crashBefore, over: make(chan struct{})}
	m.life.turns.Store(m.lives << 32)
	return m.life
}

// Crash crashes the machine, if the life is not over yet.
func (l *Life) Crash() {
	l.machine.mu.Lock()
	defer l.machine.mu.Unlock()
	l.crash()
}

func (l *Life) crash() {
	if l.machine.life != l {
		return
	}
	l.machine.life = nil
	for _, d := range l.machine.devices {
		d.crash()
	}
	close(l.over)
}

// Over is closed by the crash.
func (l *Life) Over() <-chan struct{} { return l.over }

// Ops is the number of operations so far.
func (l *Life) Ops() int {
	l.machine.mu.Lock()
	defer l.machine.mu.Unlock()
	return l.ops
}

// do runs an operation alone, unless the life is over or ends here. Other
// operations may run first, because otherwise goroutines would seldom
// interleave.
func (l *Life) do(operation func()) {
	for range 1 << (l.turns.Add(1) * 0x9e3779b97f4a7c15 >> 62 * 2) {
		runtime.Gosched()
	}
	if !l.try(operation) {
		runtime.Goexit()
	}
}

func (l *Life) try(operation func()) bool {
	m := l.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.life == l && l.ops+1 == l.limit {
		l.crash()
	}
	if m.life != l {
		return false
	}
	l.ops++
	operation()
	return true
}

// add makes a device a part of the machine.
func (m *Machine) add(d device) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.devices = append(m.devices, d)
}

// cached is something with its latest content and the other contents that a
// crash may leave, the newest first.
type cached[A any] struct {
	latest A
	older  []A
}

func (c *cached[A]) write(x A) {
	c.older = append([]A{c.latest}, c.older...)
	c.latest = x
}

func (c *cached[A]) flush() { c.older = nil }

func (c *cached[A]) crash(choose Choose) {
	if len(c.older) == 0 {
		return
	}
	if i := choose(1 + len(c.older)); i > 0 {
		c.latest = c.older[i-1]
	}
	c.flush()
}
