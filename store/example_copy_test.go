// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// exampleWorld is the real world, with a directory of its own.
func exampleWorld() (world env.Env, done func(), err error) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return world, nil, err
	}
	world = osenv.New()
	world.Disk, err = osenv.OpenDisk(dir)
	return world, func() { _ = os.RemoveAll(dir) }, err
}

// A whole copy on Monday, what has changed on Tuesday, and a store of both.
func ExampleDB_Copy() {
	if err := copyTwice(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the copies have changes up to 2 and 3
	// red green
}

func copyTwice() error {
	ctx := context.Background()
	world, done, err := exampleWorld()
	if err != nil {
		return err
	}
	defer done()
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin})
	if err != nil {
		return err
	}
	defer db.Close()

	var monday, tuesday bytes.Buffer // files, or pipes to another machine
	if err := errors.Join(db.Put([]byte("a"), []byte("red")), db.Put([]byte("b"), []byte("blue"))); err != nil {
		return err
	}
	first, err := db.Copy(ctx, &monday, nil)
	if err != nil {
		return err
	}
	if err := db.Put([]byte("b"), []byte("green")); err != nil {
		return err
	}
	second, err := db.Copy(ctx, &tuesday, first) // without what first has
	if err != nil {
		return err
	}
	fmt.Println("the copies have changes up to", first.Number(), "and", second.Number())

	if _, err := store.Restore(ctx, world, "restored", store.RestoreOptions{}, &monday, &tuesday); err != nil {
		return err
	}
	restored, err := store.Open(world, "restored", store.Options{Memory: store.MemoryMin})
	if err != nil {
		return err
	}
	defer restored.Close()
	a, errA := restored.Get([]byte("a"), nil)
	b, errB := restored.Get([]byte("b"), nil)
	fmt.Println(string(a), string(b))
	return errors.Join(errA, errB)
}
