// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
)

// A DB keeps nothing of keyspaces that were dropped.
func TestDroppedKeyspacesAreForgotten(t *testing.T) {
	db, err := Open(env.Env{Disk: sim.NewDisk(), Clock: osenv.NewClock(), Random: osenv.NewRandom()}, "db",
		Options{Memory: 64 << 20, Tuning: Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		k, err := db.Keyspace(fmt.Sprint("space", i))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		if err := k.Drop(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(db.spaces.known); n != 1 {
		t.Errorf("%d keyspaces are known, of which one was not dropped", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
