// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package console

import "io"

// columns is how wide the terminal is that w writes to: not known.
func columns(io.Writer) int { return 0 }
