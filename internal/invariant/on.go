//go:build invariants || race

package invariant

// Enabled says whether costly checks run: they do under the build tag
// "invariants" and in race builds, so that a release pays nothing.
const Enabled = true

// Mutex is a sync.Mutex with a place in an order of locks. Where Enabled, Lock
// panics if the goroutine holds a lock that must be taken later; elsewhere it
// is a sync.Mutex and nothing more.
type Mutex = checkedMutex
