// SPDX-License-Identifier: Apache-2.0

package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/env"
)

// dice is a random number generator for several goroutines. No other lock is taken
// while its lock is held.
type dice struct {
	mu     sync.Mutex
	random env.Random
}

func (d *dice) number() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.Uint64()
}
