// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/store"
)

func ExampleLook() {
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
	db, err := store.Open(world, "data", store.Options{Memory: store.MemoryMin})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Put([]byte("colour"), []byte("red")); err != nil {
		fmt.Println(err)
		return
	}
	if err := db.Close(); err != nil { // makes a branch of the memtable
		fmt.Println(err)
		return
	}
	a, err := inspect.Look(disk, "data")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range a.Branches {
		fmt.Printf("%d record from %q to %q\n", b.Records, b.Lo, b.Hi)
	}
	fmt.Println(len(a.Damage), "damaged parts")
	// Output:
	// 1 record from "colour" to "colour"
	// 0 damaged parts
}
