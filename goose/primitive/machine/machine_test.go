// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

// TestNumbers: as proofs/trusted/primitive.v computes them.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		b := []byte{8: 99}
		machine.UInt64Put(b, n)
		rest := n
		for i := range 8 {
			if b[i] != byte(rest) {
				t.Fatalf("byte %d of %d is %d", i, n, b[i])
			}
			rest >>= 8
		}
		if b[8] != 99 || machine.UInt64Get(b) != n {
			t.Fatalf("%d became %v, %d", n, b, machine.UInt64Get(b))
		}
		digits := ""
		for rest = n; ; rest /= 10 {
			digits = string("0123456789"[rest%10]) + digits
			if rest < 10 {
				break
			}
		}
		if got := machine.UInt64ToString(n); got != digits {
			t.Fatalf("%d is %q", n, got)
		}
	})
}

func TestShortSlices(t *testing.T) {
	for _, f := range []func(){
		func() { machine.UInt64Put(make([]byte, 7), 1) },
		func() { machine.UInt64Get(make([]byte, 7)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

func TestRandomIsNotConstant(t *testing.T) {
	seen := map[uint64]bool{}
	for range 100 {
		seen[machine.RandomUint64()] = true
	}
	if len(seen) < 99 {
		t.Errorf("%d of 100 are different", len(seen))
	}
}
