// SPDX-License-Identifier: Apache-2.0

package slab

import "testing"

// TestCharge: what is charged counts as pieces do, frees what the owner can free, and
// never exceeds the limit.
func TestCharge(t *testing.T) {
	p := New(1 << 20)
	var spare []byte
	p.OnShortage(func(int) Answer {
		if spare == nil {
			return Exceed
		}
		p.Free(spare)
		spare = nil
		return Retry
	})
	spare, _ = p.Alloc(512 << 10)
	if !p.Charge(512<<10) || spare == nil {
		t.Fatal("no room for what fits")
	}
	if !p.Charge(256<<10) || spare != nil {
		t.Fatal("the owner was not asked for what does not fit")
	}
	if p.Charge(512<<10) || p.Used() != 768<<10 {
		t.Fatalf("charged beyond the limit: %d bytes in use", p.Used())
	}
	if _, ok := p.Try(512 << 10); ok {
		t.Fatal("a piece in the place of what is charged")
	}
	p.Discharge(768 << 10)
	if p.Used() != 0 || p.Peak() > 1<<20 {
		t.Fatalf("%d bytes in use, %d at most", p.Used(), p.Peak())
	}
	p.Close()
}
