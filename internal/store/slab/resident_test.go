// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package slab_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/slab"
)

// resident returns the bytes of memory that the process holds.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var total, pages int64
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestTheLimitHoldsForThePagesOfTheSystem goes through the sizes with all
// pieces written to: freed pieces of one size must not stay resident beside
// those of the next.
func TestTheLimitHoldsForThePagesOfTheSystem(t *testing.T) {
	const limit, slack = 48 << 20, 12 << 20
	pieces := make([][]byte, 0, limit/2048)
	debug.FreeOSMemory()
	before := resident(t)
	p := slab.New(limit)
	most := int64(0)
	for _, n := range []int{4096, 64 << 10, 2048, 1 << 20, 6 << 20, 8192, limit, 16 << 10} {
		pieces = pieces[:0]
		for {
			b, ok := p.Alloc(n)
			if !ok {
				break
			}
			for i := 0; i < n; i += 4096 {
				b[i] = 1
			}
			pieces = append(pieces, b)
		}
		now := resident(t) - before
		if now < limit/2 || now > limit+slack {
			t.Errorf("%d bytes resident with pieces of %d, want up to %d", now, n, limit)
		}
		most = max(most, now)
		for _, b := range pieces {
			p.Free(b)
		}
	}
	p.Close()
	if now := resident(t) - before; now > slack {
		t.Errorf("%d bytes resident after close", now)
	}
	t.Logf("at most %d MiB resident of %d", most>>20, limit>>20)
}
