// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package invariant

// Mutex is a sync.Mutex with a place in an order of locks. Under the build tag
// "invariants" Lock panics if the goroutine holds a lock that must be taken
// later; elsewhere it is a sync.Mutex and nothing more.
type Mutex = plainMutex
