// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
)

// transcript runs a workload and writes down every answer.
func transcript(t *testing.T, e Engine, p Profile, seed uint64) string {
	t.Helper()
	var out bytes.Buffer
	s := newSession(e, env.NoTrace{}, NewDisk(), newHistory(p.keys(), 0, nil))
	if err, bad := s.open(); err != nil || bad != nil {
		t.Fatal(e.Label, err, bad)
	}
	ops := p.Generate(seed)
	for i := range ops {
		err, bad := s.exec(&ops[i])
		if err != nil || bad != nil {
			t.Fatalf("%s, seed %d, operation %d, %s: %v %v\n%s", e.Label, seed, i, &ops[i], err, bad, s.story())
		}
		found, err := s.scan.scan(s.store)
		if err != nil {
			t.Fatal(err)
		}
		h := uint64(0)
		for _, r := range found {
			h = mix(h, mix(uint64(len(r.key)), uint64(writer(r.value))))
		}
		fmt.Fprintf(&out, "%d %s: %d %x\n", i, &ops[i], len(found), h)
	}
	if err := s.store.Verify(); err != nil {
		t.Fatalf("%s, seed %d: Verify: %v", e.Label, seed, err)
	}
	if err, bad := s.close(); err != nil || bad != nil {
		t.Fatal(e.Label, err, bad)
	}
	return out.String()
}

// TestOptionsDoNotChangeAnswers: with any sizes, durability and compression, the same
// operations have the same answers.
func TestOptionsDoNotChangeAnswers(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		p := Profiles()[seed%uint64(len(Profiles()))]
		p.Ops *= 2
		p.Weights[Kill] = 0 // what a kill loses depends on the durability
		r := env.Seeded(seed).Split("options")
		first, name := "", ""
		for range 4 {
			e := randomEngine(r)
			got := transcript(t, e, p, seed)
			if first == "" {
				first, name = got, e.Label
			} else if got != first {
				t.Fatalf("seed %d, %s: %s and %s differ:\n%s\n%s", seed, p.Name, name, e.Label, first, got)
			}
		}
	}
}

// randomEngine draws options.
func randomEngine(r env.Random) Engine {
	memtable := (8 + env.IntN(r, 24)) * 4096
	e := Engine{Options: store.Options{
		Durability:  store.Durability(env.IntN(r, 3)),
		Compression: store.Compression(env.IntN(r, 2)),
		Tuning: store.Tuning{
			MemtableBytes: memtable,
			LeafBytes:     int64(4<<10+env.IntN(r, 4<<10)) << env.IntN(r, 6),
			Fanout:        4 + env.IntN(r, 4),
			Runs:          2 + env.IntN(r, 6),
			BlobBytes:     512 + env.IntN(r, memtable/4-512),
			CacheBytes:    int64(4096 + env.IntN(r, 500<<10)),
			Inline:        true,
		},
	}}
	e.Label = fmt.Sprintf("%+v", e.Options)
	return e
}
