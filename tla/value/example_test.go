// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// Values are equal when TLA+ says that they are, however they were made.
func ExampleParse() {
	f, err := value.Parse(`[x |-> {3, 1, 2}, y |-> <<"a", TRUE>>]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f)
	fmt.Println(value.Equal(f.Field("x"), value.Interval(1, 3)))
	fmt.Println(f.ExceptField("y", value.EmptySet()))
	// Output:
	// [x |-> {1, 2, 3}, y |-> <<"a", TRUE>>]
	// true
	// [x |-> {1, 2, 3}, y |-> {}]
}

// An operation that TLA+ gives no value panics with an *Error; Catch returns it.
func ExampleCatch() {
	err := value.Catch(func() { value.Head(value.Tuple()) })
	fmt.Println(err != nil)
	// Output: true
}
