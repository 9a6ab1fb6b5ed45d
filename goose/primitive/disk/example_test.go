// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
)

// A write to a Disk is durable when it returns.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	d, err := disk.Open(filepath.Join(dir, "blocks"), 16)
	if err != nil {
		fmt.Println(err)
		return
	}
	block := make([]byte, disk.BlockSize)
	copy(block, "kept")
	d.Write(3, block)
	fmt.Printf("%s, of %d blocks\n", d.Read(3)[:4], d.Size())
	// Output: kept, of 16 blocks
}
