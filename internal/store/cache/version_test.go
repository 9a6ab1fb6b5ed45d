// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// TestVersionsAreComparedUnderTheLock: a put that waits for the lock of its shard
// during an Advance is refused, although its version was current when it was
// called.
func TestVersionsAreComparedUnderTheLock(t *testing.T) {
	pool := slab.New(1 << 20)
	c := New(pool, 128<<10)
	key := []byte("key")
	s := c.shard(xxhash.Sum64(key))
	s.mu.Lock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.PutRecord(key, []byte("old"), 0)
	}()
	time.Sleep(20 * time.Millisecond) // it reaches the lock; if not, it is refused all the same
	c.Advance()
	c.Remove([]byte("another")) // no other call may wait: there are no records yet
	s.mu.Unlock()
	<-done
	if got, ok := c.GetRecord(key, nil); ok {
		t.Errorf("a stale record is served: %q", got)
	}
	c.Close()
	pool.Close()
}
