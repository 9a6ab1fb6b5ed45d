// SPDX-License-Identifier: Apache-2.0

package wal_test

import (
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/store/wal"
)

// Append queues records, Commit makes all that were appended durable at once, and the
// next life replays them.
func ExampleLog() {
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
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	if err := wal.Format(world, "log", []byte("counters of example")); err != nil {
		fmt.Println(err)
		return
	}

	for life := range 2 {
		l, err := wal.Open(world, "log", wal.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		err = l.Replay(func(record []byte) error {
			fmt.Printf("life %d finds %s\n", life, record)
			return nil
		})
		if err == nil {
			_, err = l.Append(wal.One(fmt.Append(nil, "record ", life)))
		}
		if err == nil {
			err = l.Commit()
		}
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output: life 1 finds record 0
}
