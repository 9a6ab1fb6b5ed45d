// SPDX-License-Identifier: Apache-2.0

// Package halt ends the process when the world fails below a primitive.
//
// The models of the primitives have no errors: an operation that fails for a
// reason that is not in its result is a crash, after which the program recovers
// as after any other. So the process must end, and nothing may prevent that:
// servers that recover panics of their handlers would catch a panic in the
// calling goroutine and continue, with locks held, in a state that no proof
// covers.
package halt

import "fmt"

// Because ends the process with the error, and with the traces of all
// goroutines if GOTRACEBACK asks for them. It does not return, and the calling
// goroutine runs none of its deferred calls.
func Because(what string, err error) {
	failure := fmt.Errorf("%s: %w; the process ends here, as in a crash, and recovers when it starts again", what, err)
	go panic(failure) // in its own goroutine: nothing recovers it
	select {}
}
