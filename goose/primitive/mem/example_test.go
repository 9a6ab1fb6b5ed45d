// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/mem"
)

// A machine can crash before any operation; the durable contents of a device
// survive.
func ExampleMachine() {
	m := mem.NewMachine(func(n int) int { return 0 }) // of the contents that a crash may leave, the latest
	device := m.NewDisk(2)
	life := m.Boot(2) // it crashes before the second operation
	done := make(chan struct{})
	go func() {
		defer close(done)
		d := device.Open(life)
		block := make([]byte, disk.BlockSize)
		block[0] = 'a'
		d.Write(0, block)
		d.Write(1, block) // the machine crashes here, and this goroutine ends
	}()
	<-done

	d := device.Open(m.Boot(0))
	fmt.Printf("%c, and %d\n", d.Read(0)[0], d.Read(1)[0])
	// Output: a, and 0
}
