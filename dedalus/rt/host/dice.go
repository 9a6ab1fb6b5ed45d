// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// dice are random numbers for several goroutines. No other lock is taken while their
// lock is held.
type dice struct {
	mu     sync.Mutex
	random env.Random
}

func (d *dice) number() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.Uint64()
}
