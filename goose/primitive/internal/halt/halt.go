// SPDX-License-Identifier: Apache-2.0

// Package halt ends the process when the world fails below a primitive.
//
// The models of the primitives have no errors: an operation that fails for a
// reason that is not in its result is a crash, after which the program recovers
// as after any other. So the process has to end, and nothing may be able to
// prevent that: a panic in the calling goroutine would be caught by servers
// that catch the panics of their handlers, which would then go on, with locks
// held, in a state that no proof speaks of.
package halt

import "fmt"

// Because ends the process with the error, and with the traces of all
// goroutines if GOTRACEBACK asks for them. It does not return, and the calling
// goroutine runs none of its deferred calls.
func Because(what string, err error) {
	failure := fmt.Errorf("%s: %w; the process ends here, as in a crash, and recovers when it starts again", what, err)
	go panic(failure) // in a goroutine of its own: no one recovers it
	select {}
}
