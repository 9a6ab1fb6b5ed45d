// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/store"
)

// A reader follows a store, and continues where it was.
func ExampleDB_Changes() {
	if err := followChanges(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 put colour=red, more of the batch: true
	// 2 put size=9, more of the batch: false
	// 3 delete size=, more of the batch: false
}

func followChanges() error {
	ctx := context.Background()
	world, done, err := exampleWorld()
	if err != nil {
		return err
	}
	defer done()
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin, History: store.History{Bytes: 1 << 30}})
	if err != nil {
		return err
	}
	defer db.Close()
	b := db.NewBatch()
	b.Put([]byte("colour"), []byte("red"))
	b.Put([]byte("size"), []byte("9"))
	if err := errors.Join(db.Commit(b, store.NoSync), db.Delete([]byte("size")), db.Sync()); err != nil {
		return err
	}
	var at uint64 // what the reader keeps: the number of the last batch that it has
	for at < 3 {
		feed, err := db.Changes(at) // as after a restart of the reader
		if err != nil {
			return err
		}
		for more := true; more; {
			c, err := feed.Next(ctx)
			if err != nil {
				return err
			}
			fmt.Printf("%d %v %s=%s, more of the batch: %v\n", c.Number, c.Kind, c.Key, c.Value, c.More)
			at, more = c.Number, c.More
		}
		if err := feed.Close(); err != nil {
			return err
		}
	}
	return nil
}
