// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"context"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// counter is the archetype "c: while (n < limit) { n := n + 1 }".
type counter struct{ n, limit int32 }

const counterC distsys.Label = 0

func (s *counter) c(tx *distsys.Tx) (distsys.Label, error) {
	if s.n >= s.limit {
		return distsys.Done, nil
	}
	s.n++
	return counterC, nil
}

func counterArchetype() *distsys.Archetype[counter] {
	return &distsys.Archetype[counter]{
		Name:     "Counter",
		Sections: []distsys.Section[counter]{counterC: {Name: "c", Place: "c.tla:1:1", Run: (*counter).c}},
	}
}

func TestCounterRunsToDone(t *testing.T) {
	in, err := distsys.New(counterArchetype(), value.Int(1), counter{limit: 1000}, distsys.Options{Env: osenv.New()})
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := in.State().n; got != 1000 {
		t.Errorf("n = %d, want 1000", got)
	}
	if got := in.Metrics().Commits; got != 1002 {
		t.Errorf("%d commits, want 1002: the initialisation, 1000 turns and the last", got)
	}
}

// BenchmarkCounterSection is a critical section that only counts.
func BenchmarkCounterSection(b *testing.B) {
	in, err := distsys.New(counterArchetype(), value.Int(1), counter{limit: int32(b.N)}, distsys.Options{Env: osenv.New()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := in.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}
