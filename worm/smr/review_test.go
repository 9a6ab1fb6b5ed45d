// SPDX-License-Identifier: Apache-2.0

package smr

import (
	"testing"
	"time"
)

// TestSparseNumbers: a client may number its commands in any way; no replica counts
// through the numbers that it left out.
func TestSparseNumbers(t *testing.T) {
	s, m := newShared(), &counter{}
	if _, err := s.apply(command{verb: verbOpen}, m); err != nil {
		t.Fatal(err)
	}
	const far = uint64(1) << 60
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range uint64(ResultsMax + 3) {
			if _, err := s.apply(command{verb: verbApply, key: key{1, far + 2*i}}, m); err != nil {
				t.Error(i, err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it counts through the numbers that were left out")
	}
	x := s.sessions[1]
	if len(x.results) != ResultsMax || x.low != far+2*2+1 {
		t.Errorf("%d results, from %d on", len(x.results), x.low-far)
	}
	if _, err := s.apply(command{verb: verbApply, key: key{1, far + 4}}, m); err != ErrSession {
		t.Errorf("a command whose result was forgotten: %v", err)
	}
}
