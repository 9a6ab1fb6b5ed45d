// SPDX-License-Identifier: Apache-2.0

package paxos_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/evidence/worm/hostile"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// seedsVariable is how many seeds each hostile world runs, instead of the few
// that a plain test does.
const seedsVariable = "ASHLAR_WORM_SEEDS"

func seeds(t *testing.T, few int) int {
	text := os.Getenv(seedsVariable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", seedsVariable, err)
	}
	return n
}

func TestHostileWorld(t *testing.T) {
	seen := hostile.Seen{}
	for _, servers := range []int{3, 5} {
		o := hostile.Options{
			Client: paxos.Client{}, Server: func() wor.Server { return &paxos.Acceptor{} },
			Servers: servers, Steps: 120,
		}
		for seed := range seeds(t, 3000) {
			if err := hostile.Run(o, uint64(seed), seen); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, what := range []string{
		"write: ok", "write: written", "write: trimmed", "write: unknown", "read: ok", "read: unwritten", "read: trimmed",
		"read: unknown", "trim: ok", "trim: unknown", "crash", "adopt", "write while reading",
		"capture request: ok", "capture request: outbid", "capture request: trimmed", "read request: ok", "read request: trimmed",
		"write request: ok", "write request: outbid", "write request: trimmed", "trim request: ok",
	} {
		if seen[what] < 20 {
			t.Errorf("%s: %d times", what, seen[what])
		}
	}
	t.Log(seen)
}
