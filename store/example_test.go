// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
)

// openExample opens a store in a directory of the file system.
func openExample(dir string, o store.Options) (*store.DB, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	return store.Open(world, "data", o)
}

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	if err := db.Put([]byte("colour"), []byte("red")); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Sync(); err != nil { // from here on a crash does not lose it
		fmt.Println(err)
		return
	}
	value, err := db.Get([]byte("colour"), nil)
	fmt.Println(string(value), err)
	_, err = db.Get([]byte("size"), nil)
	fmt.Println(errors.Is(err, store.ErrNotFound))
	// Output:
	// red <nil>
	// true
}

// The changes of a Batch become visible, and durable, together.
func ExampleBatch() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	b := db.NewBatch()
	b.Put([]byte("account/ann"), []byte("70"))
	b.Put([]byte("account/bob"), []byte("30"))
	b.DeleteRange([]byte("pending/"), []byte("pending0")) // all keys that begin with pending/
	if err := db.Commit(b, store.Sync); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("committed")
	// Output: committed
}

// An Iterator sees the store as it was when it was made.
func ExampleIterator() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for _, name := range []string{"ann", "bob", "cid"} {
		if err := db.Put([]byte("user/"+name), []byte("here")); err != nil {
			fmt.Println(err)
			return
		}
	}

	it, err := db.Iter([]byte("user/"), []byte("user0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer it.Close()
	if err := db.Delete([]byte("user/bob")); err != nil { // the iterator does not see it
		fmt.Println(err)
		return
	}
	for ok := it.First(); ok; ok = it.Next() {
		fmt.Printf("%s is %s\n", it.Key(), it.Value())
	}
	fmt.Println(it.Err())
	// Output:
	// user/ann is here
	// user/bob is here
	// user/cid is here
	// <nil>
}

// IterOptions choose the keys, and whether values are read.
func ExampleDB_Iterate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for _, key := range []string{"log/1", "log/2", "log/3", "user/ann"} {
		if err := db.Put([]byte(key), []byte("...")); err != nil {
			fmt.Println(err)
			return
		}
	}

	newest, err := db.Iterate(store.IterOptions{Prefix: []byte("log/"), Reverse: true, KeysOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer newest.Close()
	for ok := newest.First(); ok; ok = newest.Next() {
		fmt.Printf("%s\n", newest.Key())
	}
	if err := newest.SetBounds([]byte("user/"), nil); err != nil { // at the same moment
		fmt.Println(err)
		return
	}
	for ok := newest.First(); ok; ok = newest.Next() {
		fmt.Printf("%s\n", newest.Key())
	}
	fmt.Println(newest.Err())
	// Output:
	// log/3
	// log/2
	// log/1
	// user/ann
	// <nil>
}

// An Ingest writes records that come in order, all of them or none.
func ExampleDB_Ingest() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	ingest, err := db.Ingest()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ingest.Discard() // does nothing after Commit
	for i := range 1000 {
		if err := ingest.Put(fmt.Appendf(nil, "day/%04d", i), []byte("...")); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(errors.Is(ingest.Put([]byte("day/0007"), nil), store.ErrOrder))
	_, err = db.Get([]byte("day/0042"), nil)
	fmt.Println(err)
	if err := ingest.Commit(); err != nil { // durable from here on
		fmt.Println(err)
		return
	}
	value, err := db.Get([]byte("day/0042"), nil)
	fmt.Println(string(value), err)
	// Output:
	// true
	// key not found
	// ... <nil>
}

// Update runs its function again when something that it has read was changed
// meanwhile: here, the first key of a queue.
func ExampleDB_Update() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	for _, job := range []string{"1 wash", "2 cook"} {
		if err := db.Put([]byte("queue/"+job), nil); err != nil {
			fmt.Println(err)
			return
		}
	}

	var job []byte
	err = db.Update(context.Background(), store.Sync, func(tx *store.Tx) error {
		queue, err := tx.Iterate(store.IterOptions{Prefix: []byte("queue/")})
		if err != nil {
			return err
		}
		if !queue.First() {
			return queue.Err()
		}
		job = bytes.Clone(queue.Key())
		return errors.Join(tx.Delete(job), tx.Put([]byte("running"), job))
	})
	fmt.Printf("%s %v\n", job, err)
	// Output: queue/1 wash <nil>
}

// A Tx that has read what another change changes does not commit.
func ExampleTx() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	tx := db.Begin()
	defer tx.Discard() // does nothing after Commit
	_, err = tx.Get([]byte("seat 4a"), nil)
	fmt.Println(err)
	if err := tx.Put([]byte("seat 4a"), []byte("ann")); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Put([]byte("seat 4a"), []byte("bob")); err != nil { // in the meantime
		fmt.Println(err)
		return
	}
	fmt.Println(errors.Is(tx.Commit(store.Sync), store.ErrConflict))
	// Output:
	// key not found
	// true
}

// The conditional writes are transactions of one key.
func ExampleDB_CompareAndSwap() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	lease := []byte("lease")
	fmt.Println(db.PutIfAbsent(lease, []byte("ann")))
	fmt.Println(db.PutIfAbsent(lease, []byte("bob")))
	fmt.Println(db.CompareAndSwap(lease, []byte("ann"), []byte("bob")))
	fmt.Println(db.CompareAndDelete(lease, []byte("ann")))
	// Output:
	// true <nil>
	// false <nil>
	// true <nil>
	// false <nil>
}

// Keyspaces have keys of their own; a batch changes several of them together.
func ExampleDB_Keyspace() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := openExample(dir, store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()

	users, err := db.Keyspace("users")
	if err != nil {
		fmt.Println(err)
		return
	}
	mails, err := db.Keyspace("mails")
	if err != nil {
		fmt.Println(err)
		return
	}
	b := db.NewBatch()
	b.In(users).Put([]byte("ann"), []byte("1 mail"))
	b.In(mails).Put([]byte("ann/1"), []byte("hello"))
	if err := db.Commit(b, store.Sync); err != nil {
		fmt.Println(err)
		return
	}
	if err := mails.Drop(); err != nil {
		fmt.Println(err)
		return
	}
	names, err := db.Keyspaces()
	fmt.Println(names, err)
	value, err := users.Get([]byte("ann"), nil)
	fmt.Println(string(value), err)
	// Output:
	// [users] <nil>
	// 1 mail <nil>
}
