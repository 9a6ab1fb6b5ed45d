// SPDX-License-Identifier: Apache-2.0

// Package osenv is the real world behind env: the machine's clock and
// entropy, TCP with or without TLS, files below a directory.
//
// In: options. Out: an env.Env. Goroutines exist for open connections and
// listeners only, and end with them; Close of a Network ends and awaits all.
// It is the only package of the module, besides commands and tests, that may
// import os, net, math/rand and read the time.
package osenv

import "github.com/ashlar-dev/ashlar/env"

// New returns the clock, the randomness and the packets of the machine, and no tracing.
// Network and Disk have to be opened: NewNetwork, OpenDisk.
func New() env.Env {
	return env.Env{Clock: NewClock(), Random: NewRandom(), Packets: Packets{}, Tracer: env.NoTrace{}}
}
