// SPDX-License-Identifier: Apache-2.0

// Package osenv implements env with the real machine: its clock and entropy,
// TCP with or without TLS, files below a directory.
//
// In: options. Out: an env.Env. Goroutines exist for open connections and
// listeners only and end with them; Close of a Network closes them all and
// waits for their end. Apart from commands and tests, this is the only package
// of the module that may import os, net, math/rand and read the time.
package osenv

import "github.com/ashlar-dev/ashlar/env"

// New returns an Env with the machine's clock, randomness and UDP packets, and without
// tracing. The caller opens Network and Disk itself: NewNetwork, OpenDisk.
func New() env.Env {
	return env.Env{Clock: NewClock(), Random: NewRandom(), Packets: Packets{}, Tracer: env.NoTrace{}}
}
