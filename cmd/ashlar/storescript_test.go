// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/store"
)

// tinyStore are options with which few changes make a tree of several levels,
// the same one every time.
func tinyStore() store.Options {
	return store.Options{Memory: 64 << 20, Compression: store.None,
		Tuning: store.Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}}
}

// makeStore is the command of scripts that makes a store in a directory, or with
// a second argument one whose merger has that name.
func makeStore() {
	if _, err := storeIn(os.Args[1], strings.Join(os.Args[2:], ""), 1200); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// storeIn makes a store of so many changes, and some of each kind. When it
// returns, the last one is in the journal alone.
func storeIn(dir, merger string, changes int) (*store.DB, error) {
	disk, err := osenv.OpenDisk(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk, world.Random = disk, env.Seeded(1)
	o := tinyStore()
	if merger != "" {
		o.Merger = inspect.NoMerger(merger)
		o.Tuning.Runs, o.Tuning.LeafBytes = 100, 1<<20 // nothing is merged
	}
	db, err := store.Open(world, filepath.Base(dir), o)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		if err == nil {
			err = db.Put(fmt.Appendf(nil, "user/%04d", i*7%(changes*3/4)), fmt.Appendf(nil, "value %d", i))
		}
	}
	if merger != "" && err == nil {
		err = db.Merge([]byte("user/0003"), []byte("operand"))
	}
	if err == nil {
		err = db.Put([]byte("picture"), bytes.Repeat([]byte("pixel"), 1000))
	}
	if merger == "" && err == nil { // where nothing is to be merged there is none
		err = db.DeleteRange([]byte("user/0100"), []byte("user/0110"))
	}
	if err == nil {
		err = db.Delete([]byte("user/0500"))
	}
	if err == nil {
		err = db.Flush()
	}
	if err == nil {
		err = db.Put([]byte("user/0500"), []byte("again"))
	}
	if err == nil {
		err = db.Sync()
	}
	return db, err
}

// damageFile is the command of scripts that turns over the bits of a byte.
func damageFile() {
	err := func() error {
		at, err := strconv.ParseInt(os.Args[2], 10, 64)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(os.Args[1], os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		b[0] ^= 0xff
		_, err = f.WriteAt(b, at)
		return err
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
