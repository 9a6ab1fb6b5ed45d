// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
)

// Rank is the place of a lock in an order. A goroutine may lock a Mutex only
// while all that it holds have lower ranks; so no two goroutines wait for each
// other, and of locks with the same rank it holds one at a time.
type Rank int

// plainMutex is the Mutex of a release: a sync.Mutex whose rank nobody checks.
type plainMutex struct{ sync.Mutex }

// SetRank does nothing.
func (m *plainMutex) SetRank(Rank, string) {}

// AssertHeld does nothing.
func (m *plainMutex) AssertHeld() {}

// checkedMutex is the Mutex of builds with the tag "invariants". It finds the
// goroutine's other locks by the number of the goroutine, which costs some
// microseconds: under the race detector, twice what tests of the store cost
// without; so race builds do not check.
type checkedMutex struct {
	mu   sync.Mutex
	rank Rank // 0: not checked
	name string
}

// held has the ranked locks of each goroutine that holds any: a map from the
// goroutine's text, as runtime.Stack writes it, to a []*checkedMutex. A list is
// read and written only by its own goroutine.
var held sync.Map

// SetRank gives the lock its place in the order, and its name in messages. It is
// called before the lock is used.
func (m *checkedMutex) SetRank(rank Rank, name string) { m.rank, m.name = rank, name }

// Lock locks m. It panics if the goroutine holds a lock of the same or a higher
// rank, whether or not that would end in a deadlock this time.
func (m *checkedMutex) Lock() {
	if m.rank == 0 {
		m.mu.Lock()
		return
	}
	g := goroutine()
	for _, other := range locksOf(g) {
		Check(other.rank < m.rank, "lock %q (rank %d) is taken while %q (rank %d) is held", m.name, m.rank, other.name, other.rank)
	}
	m.mu.Lock()
	m.note(g)
}

// TryLock tries to lock m. Since it does not wait, it may ignore the order.
func (m *checkedMutex) TryLock() bool {
	ok := m.mu.TryLock()
	if ok && m.rank > 0 {
		m.note(goroutine())
	}
	return ok
}

// Unlock unlocks m. It panics if another goroutine has locked it.
func (m *checkedMutex) Unlock() {
	if m.rank > 0 {
		g := goroutine()
		locks := locksOf(g)
		at := m.in(locks)
		Check(at >= 0, "lock %q is unlocked by a goroutine that does not hold it", m.name)
		if locks = append(locks[:at:at], locks[at+1:]...); len(locks) == 0 {
			held.Delete(g)
		} else {
			held.Store(g, locks)
		}
	}
	m.mu.Unlock()
}

// AssertHeld panics if the goroutine does not hold m.
func (m *checkedMutex) AssertHeld() {
	Check(m.rank == 0 || m.in(locksOf(goroutine())) >= 0, "lock %q is not held", m.name)
}

// note records that the goroutine g holds m.
func (m *checkedMutex) note(g string) {
	locks := locksOf(g)
	held.Store(g, append(locks[:len(locks):len(locks)], m))
}

func (m *checkedMutex) in(locks []*checkedMutex) int {
	for i := range locks {
		if locks[i] == m {
			return i
		}
	}
	return -1
}

func locksOf(goroutine string) []*checkedMutex {
	if locks, ok := held.Load(goroutine); ok {
		return locks.([]*checkedMutex)
	}
	return nil
}

// goroutine is the running goroutine's name: "goroutine 18". The first line of
// a stack is the only place where the runtime says it.
func goroutine() string {
	var line [64]byte
	n := runtime.Stack(line[:], false)
	name, _, ok := bytes.Cut(line[:n], []byte(" ["))
	if !ok {
		panic(fmt.Sprintf("invariant: no goroutine in %q", line[:n]))
	}
	return string(name)
}
