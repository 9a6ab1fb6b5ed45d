// SPDX-License-Identifier: Apache-2.0

package crashtest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
)

// Together runs the system's clients at once, without crashes, in this process
// and on the file system of the machine, and checks the history. Each client is
// called that many times.
func Together[S, Op, Ret any](t *testing.T, sys System[S, Op, Ret], rounds int, seed uint64) {
	t.Helper()
	dir := t.TempDir()
	if sys.Prepare != nil {
		if err := sys.Prepare(dir); err != nil {
			t.Fatal(err)
		}
	}
	do, err := sys.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &history[Op, Ret]{}
	write := func(e Event[Op, Ret]) { h.add(0, e) }
	var wait sync.WaitGroup
	for client := range sys.Clients {
		r := env.Seeded(seed).Split(fmt.Sprint(client))
		wait.Go(func() {
			for range rounds {
				sys.Client(r, client, watched(do, client, write))
			}
		})
	}
	wait.Wait()
	if _, err := CheckHistory(sys.Spec, h.events); err != nil {
		t.Errorf("%s, seed %d: %v", sys.Name, seed, err)
	}
	t.Logf("%d events", len(h.events))
}
