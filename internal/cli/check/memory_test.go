// SPDX-License-Identifier: Apache-2.0

package check

import "testing"

// TestMemoryBounds: neither what the user asks for nor what the machine has is exceeded,
// and the message names every number that made the bound.
func TestMemoryBounds(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		wanted, available, held int64
		states, process         int64
		reached                 string
	}{
		"no flag":             {0, 1000 * mib, 50 * mib, 1000 * mib, 1000 * mib, "the memory limit of 1,048 MB was reached"},
		"nothing is known":    {0, 0, 50 * mib, 0, 0, ""},
		"the flag":            {500 * mib, 1000 * mib, 50 * mib, 500 * mib, 500 * mib, "the memory limit of 524 MB was reached"},
		"the flag, unknown":   {500 * mib, 0, 50 * mib, 500 * mib, 500 * mib, "the memory limit of 524 MB was reached"},
		"raised":              {60 * mib, 1000 * mib, 50 * mib, 60 * mib, 178 * mib, "the memory limit of 186 MB was reached: --memory 60M, raised to 128 MiB more than the program held before"},
		"more than there is":  {2048 * mib, 1000 * mib, 50 * mib, 1000 * mib, 1000 * mib, "the memory limit of 1,048 MB was reached: --memory 2G, but only that much was available"},
		"raised, not so much": {60 * mib, 100 * mib, 50 * mib, 60 * mib, 100 * mib, "the memory limit of 104 MB was reached: --memory 60M, but only that much was available"},
	} {
		t.Run(name, func(t *testing.T) {
			b := memoryBounds(c.wanted, c.available, c.held)
			if b.states != c.states || b.process != c.process {
				t.Errorf("%d for states and %d for the process, want %d and %d", b.states, b.process, c.states, c.process)
			}
			if b.process > 0 && b.reached != c.reached {
				t.Errorf("the message is\n%s, want\n%s", b.reached, c.reached)
			}
		})
	}
}
