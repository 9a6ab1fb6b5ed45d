// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

// Proved code keeps numbers in blocks as eight bytes, the lowest first.
func ExampleUInt64Put() {
	block := make([]byte, 16)
	machine.UInt64Put(block[8:], 513)
	fmt.Println(block[8:11], machine.UInt64Get(block[8:]))
	// Output: [1 2 0] 513
}
