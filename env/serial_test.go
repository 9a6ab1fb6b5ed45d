// SPDX-License-Identifier: Apache-2.0

package env_test

import (
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
)

func TestSerialOrderFromWithin(t *testing.T) {
	var s env.Serial
	var got []int
	s.Do(func() {
		s.Do(func() { got = append(got, 2) })
		s.Do(func() {
			got = append(got, 3)
			s.Do(func() { got = append(got, 4) })
		})
		got = append(got, 1)
	})
	for i, g := range got {
		if g != i+1 {
			t.Fatalf("order %v", got)
		}
	}
	if len(got) != 4 {
		t.Fatalf("ran %v", got)
	}
}

// TestSerialOneAtATime counts without a lock: with the race detector a second
// function at the same time is found, and without it the sum is too small.
func TestSerialOneAtATime(t *testing.T) {
	var s env.Serial
	var wg sync.WaitGroup
	const each, who = 1000, 8
	sum, last := 0, [who]int{}
	for g := range who {
		wg.Go(func() {
			for i := range each {
				s.Do(func() {
					sum++
					if last[g] != i {
						t.Errorf("caller %d: %d after %d", g, i, last[g])
					}
					last[g]++
				})
			}
		})
	}
	wg.Wait()
	done := make(chan int)
	go s.Do(func() { done <- sum })
	if got := <-done; got != each*who {
		t.Fatalf("sum %d, want %d", got, each*who)
	}
}
