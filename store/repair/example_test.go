// SPDX-License-Identifier: Apache-2.0

package repair_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// A store whose older superblock is damaged is repaired, and loses nothing.
func ExampleStore() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	world := osenv.New()
	world.Disk = disk
	o := store.Options{Memory: store.MemoryMin}
	db, err := store.Open(world, "data", o)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Put([]byte("colour"), []byte("red")); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Close(); err != nil { // writes the second superblock
		fmt.Println(err)
		return
	}
	if err := damage(filepath.Join(dir, "data", "DATA")); err != nil {
		fmt.Println(err)
		return
	}
	report, err := repair.Store(world, "data", o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Repaired, report.Messages)
	db, err = store.Open(world, "data", o)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	value, err := db.Get([]byte("colour"), nil)
	fmt.Println(string(value), err)
	// Output:
	// true 1
	// red <nil>
}

// damage overwrites the first bytes of a file.
func damage(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("damaged"), 0); err != nil {
		return err
	}
	return f.Close()
}
