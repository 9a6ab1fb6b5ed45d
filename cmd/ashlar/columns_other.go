//go:build !unix

package main

import "io"

// columns is how wide the terminal is that w writes to: not known.
func columns(io.Writer) int { return 0 }
