package host

import (
	"sync"

	"github.com/ashlar-dev/ashlar/dedalus/rt/wire"
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

func (d *dice) nonce() (n wire.Nonce) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a, b := d.random.Uint64(), d.random.Uint64()
	for i := range 8 {
		n[i], n[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return n
}
