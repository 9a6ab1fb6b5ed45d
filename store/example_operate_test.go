// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store"
)

// A program is notified of the store's events, and reads its metrics.
func ExampleOptions_notify() {
	if err := watchStore(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// flushed 100 changes
	// 100 values are about 100 KB: true
	// 1 flush, none longer than a minute: true
}

func watchStore() error {
	world, done, err := exampleWorld()
	if err != nil {
		return err
	}
	defer done()
	flushed := make(chan int, 10)
	notify := func(e env.Event) {
		switch e := e.(type) {
		case store.FlushEnded:
			flushed <- e.Changes
		case store.DiskFull:
			fmt.Println("delete something:", e.Err)
		case store.Stopped:
			fmt.Println("no more changes:", e.Err)
		}
	}
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin, Compression: store.None, Notify: notify})
	if err != nil {
		return err
	}
	for i := range 100 {
		err = errors.Join(err, db.Put(fmt.Appendf(nil, "key%03d", i), make([]byte, 1000)))
	}
	if err := errors.Join(err, db.Flush()); err != nil {
		return err
	}
	fmt.Printf("flushed %d changes\n", <-flushed)
	size, err := db.EstimateSize([]byte("key"), []byte("kez"))
	fmt.Println("100 values are about 100 KB:", size > 90_000 && size < 130_000)
	h := db.Histograms().Flush.Latency
	fmt.Printf("%d flush, none longer than a minute: %v\n", h.Count(), h.Quantile(1) < 60e9)
	return errors.Join(err, db.Close())
}

// Merges are bounded by day, and one range is merged at once.
func ExampleDB_SetLimits() {
	if err := limitMerges(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 20 MiB a second, paused: false
	// merged
}

func limitMerges() error {
	world, done, err := exampleWorld()
	if err != nil {
		return err
	}
	defer done()
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin})
	if err != nil {
		return err
	}
	if err := db.SetLimits(store.Limits{BytesPerSecond: 20 << 20, Workers: 1}); err != nil {
		return err
	}
	l := db.Limits()
	fmt.Printf("%d MiB a second, paused: %v\n", l.BytesPerSecond>>20, l.Paused)
	if err := errors.Join(db.Put([]byte("2026-10-31"), []byte("v")), db.Compact([]byte("2026-10"), []byte("2026-11"))); err != nil {
		return err
	}
	fmt.Println("merged")
	return db.Close()
}
