// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// call is a client's request, and answer its result: for one key, or for two that are
// always written together.
type call struct {
	key   string
	write bool
	value string // "": delete
	scan  bool
}

// register is the specification of one key: a read returns the last write.
func register() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range history {
				k := o.Input.(call).key
				by[k] = append(by[k], o)
			}
			var out [][]porcupine.Operation
			for _, o := range by {
				out = append(out, o)
			}
			return out
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			if c := input.(call); c.write {
				return true, c.value
			}
			return output.(string) == state.(string), state
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v %v", input, output) },
	}
}

// TestHistoriesAreLinearizable: clients read, write, scan and sync the store while its
// goroutines run, on a real disk and with tiny memtables, so that flushes and merges
// never stop. All clients see one order of operations.
func TestHistoriesAreLinearizable(t *testing.T) {
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			linearizable(t, store.Durability(round))
		})
	}
}

func linearizable(t *testing.T, durability store.Durability) {
	disk, err := osenv.OpenDisk(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	world := env.Env{Clock: osenv.NewClock(), Random: env.Seeded(1), Disk: disk, Tracer: env.NoTrace{}}
	db, err := store.Open(world, "db", store.Options{Durability: durability, Memory: 16 << 20, Tuning: store.Tuning{
		MemtableBytes: 64 << 10, LeafBytes: 4 << 10, Fanout: 4, Runs: 2, BlobBytes: 2 << 10, CacheBytes: 256 << 10,
	}})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprintf("key%02d", i))
	}
	const clients, calls = 6, 500
	histories := make([][]porcupine.Operation, clients)
	start := time.Now()
	var wait sync.WaitGroup
	for c := range clients {
		wait.Go(func() {
			r := env.Seeded(uint64(c) + uint64(durability)<<8)
			for n := range calls {
				in := call{key: keys[env.IntN(r, len(keys))], write: env.IntN(r, 2) == 0, scan: env.IntN(r, 4) == 0}
				if in.write && env.IntN(r, 5) > 0 {
					in.value = fmt.Sprintf("%d.%d %s", c, n, string(make([]byte, env.IntN(r, 3000))))
				}
				from := time.Since(start)
				out, err := in.do(db, env.IntN(r, 40))
				to := time.Since(start)
				if err != nil {
					t.Error(err)
					return
				}
				histories[c] = append(histories[c], porcupine.Operation{ClientId: c, Input: in, Output: out, Call: int64(from), Return: int64(to)})
				if n%16 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wait.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		return
	}
	switch porcupine.CheckOperationsTimeout(register(), slices.Concat(histories...), time.Minute) {
	case porcupine.Illegal:
		t.Error("the history has no order")
	case porcupine.Unknown:
		t.Error("no answer in a minute")
	}
}

// do runs the call on the store. Extra work is done now and then.
func (c call) do(db *store.DB, extra int) (string, error) {
	switch extra {
	case 0:
		if err := db.Flush(); err != nil {
			return "", err
		}
	case 1:
		if err := db.Sync(); err != nil {
			return "", err
		}
	case 2:
		if err := db.Compact(nil, nil); err != nil {
			return "", err
		}
	}
	switch {
	case c.write:
		if c.value == "" {
			return "", db.Delete([]byte(c.key))
		}
		return "", db.Put([]byte(c.key), []byte(c.value))
	case c.scan:
		it, err := db.Iter([]byte(c.key), nil)
		if err != nil {
			return "", err
		}
		out := ""
		if it.First() && string(it.Key()) == c.key {
			out = string(it.Value())
		}
		return out, errors.Join(it.Err(), it.Close())
	}
	v, err := db.Get([]byte(c.key), nil)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return string(v), err
}
