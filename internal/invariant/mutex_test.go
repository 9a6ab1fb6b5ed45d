// SPDX-License-Identifier: Apache-2.0

package invariant

import (
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// panicOf is what f panics with, as text, or "".
func panicOf(f func()) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = p.(string)
		}
	}()
	f()
	return ""
}

func ranked(rank Rank, name string) *checkedMutex {
	m := new(checkedMutex)
	m.SetRank(rank, name)
	return m
}

// Each case is a sequence of calls, "name" for a lock and "-name" for an unlock,
// of locks with the ranks a: 1, b: 2, c: 3, and C: 3. "?name" is a TryLock.
func TestLocksAreTakenInOrder(t *testing.T) {
	for _, c := range []struct{ calls, want string }{
		{"a b c -c -b -a", ""},
		{"b -b a b -a -b", ""},
		{"a c b", `lock "b" (rank 2) is taken while "c" (rank 3) is held`},
		{"a c -a b", `lock "b" (rank 2) is taken while "c" (rank 3) is held`},
		{"b a", `lock "a" (rank 1) is taken while "b" (rank 2) is held`},
		{"b ?a", ""},
		{"b ?a -b c", ""},
		{"?c b", `lock "b" (rank 2) is taken while "c" (rank 3) is held`},
		{"c C", `lock "C" (rank 3) is taken while "c" (rank 3) is held`},
		{"a a", `lock "a" (rank 1) is taken while "a" (rank 1) is held`},
		{"a -b", `lock "b" is unlocked by a goroutine that does not hold it`},
		{"a !b", `lock "b" is not held`},
		{"a !a", ""},
		{"a -a !a", `lock "a" is not held`},
		{"plain a -plain plain !plain", ""},
	} {
		t.Run(c.calls, func(t *testing.T) {
			locks := map[string]*checkedMutex{"a": ranked(1, "a"), "b": ranked(2, "b"), "c": ranked(3, "c"), "C": ranked(3, "C"), "plain": new(checkedMutex)}
			said := make(chan string)
			go func() {
				text := panicOf(func() {
					for _, call := range strings.Fields(c.calls) {
						switch name := strings.TrimLeft(call, "-?!"); call[0] {
						case '-':
							locks[name].Unlock()
						case '?':
							locks[name].TryLock()
						case '!':
							locks[name].AssertHeld()
						default:
							locks[name].Lock()
						}
					}
				})
				held.Delete(goroutine()) // what it holds ends with it
				said <- text
			}()
			if got := <-said; !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What another goroutine holds is no reason to panic: that is what locks are for.
// A wait for a condition gives the lock up and takes it again.
func TestLocksOfOthersDoNotCount(t *testing.T) {
	low, high := ranked(1, "low"), ranked(2, "high")
	changed := sync.NewCond(low)
	ready := false
	high.Lock()
	done := make(chan string)
	go func() {
		done <- panicOf(func() {
			low.Lock()
			ready = true
			changed.Signal()
			low.Unlock()
		})
	}()
	if said := <-done; said != "" {
		t.Error(said)
	}
	high.Unlock()
	low.Lock()
	for !ready {
		changed.Wait()
	}
	low.Unlock()
	held.Range(func(g, locks any) bool {
		t.Errorf("%v still holds %v", g, locks)
		return true
	})
}

// Elsewhere it is a sync.Mutex: as large, and without a word about the order.
func TestPlainLocksCostNothing(t *testing.T) {
	if a, b := unsafe.Sizeof(plainMutex{}), unsafe.Sizeof(sync.Mutex{}); a != b {
		t.Errorf("%d bytes, want %d", a, b)
	}
	var a, b plainMutex
	a.SetRank(1, "a")
	b.SetRank(2, "b")
	b.Lock()
	a.Lock()
	a.AssertHeld()
	a.Unlock()
	b.Unlock()
}
