// SPDX-License-Identifier: Apache-2.0

package osenv_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
)

// Code that takes its world as an env.Env runs on this one, and on the simulated one
// of package sim.
func ExampleNew() {
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

	names := func(w env.Env) ([]string, error) { return w.Disk.List("logs") }
	_, err = names(world)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	// Output: true
}
