// SPDX-License-Identifier: Apache-2.0

package check

import "testing"

// TestMemoryBounds: neither what the user asks for nor what the machine has is exceeded,
// and the message names every number that made the bound. All numbers are computed by
// hand: what is available comes on top of what the process holds.
func TestMemoryBounds(t *testing.T) {
	const mib, unknown = 1 << 20, -1
	for name, c := range map[string]struct {
		wanted, available, held int64
		states, process         int64
		reached                 string
	}{
		"no flag":            {0, 1000 * mib, 50 * mib, 1050 * mib, 1050 * mib, "the memory limit of 1050M was reached: no more was available at the start"},
		"not a whole number": {0, 1000*mib + 77, 50*mib + 1, 1050*mib + 78, 1050*mib + 78, "the memory limit of 1050M was reached: no more was available at the start"},
		"much is held":       {0, 552 * mib, 600 * mib, 1152 * mib, 1152 * mib, "the memory limit of 1152M was reached: no more was available at the start"},
		"much is held, flag": {1024 * mib, 552 * mib, 600 * mib, 1024 * mib, 1024 * mib, "the memory limit of 1G was reached"},
		"nothing is known":   {0, unknown, 50 * mib, 0, 0, ""},
		"nothing is left":    {0, 0, 50 * mib, 50 * mib, 50 * mib, "the memory limit of 50M was reached: no more was available at the start"},
		"the flag":           {500 * mib, 1000 * mib, 50 * mib, 500 * mib, 500 * mib, "the memory limit of 500M was reached"},
		"the flag, unknown":  {500 * mib, unknown, 50 * mib, 500 * mib, 500 * mib, "the memory limit of 500M was reached"},
		"raised":             {60 * mib, 1000 * mib, 50 * mib, 60 * mib, 178 * mib, "the memory limit of 178M was reached: --memory 60M, raised to 128M more than the program used at the start"},
		"raised, unknown":    {60 * mib, unknown, 50 * mib, 60 * mib, 178 * mib, "the memory limit of 178M was reached: --memory 60M, raised to 128M more than the program used at the start"},
		"more than there is": {2048 * mib, 1000 * mib, 50 * mib, 1050 * mib, 1050 * mib, "the memory limit of 1050M was reached: --memory 2G, but no more was available at the start"},
		"raised, but less":   {60 * mib, 100 * mib, 50 * mib, 60 * mib, 150 * mib, "the memory limit of 150M was reached: --memory 60M, raised to what was available at the start"},
		"not even that":      {60 * mib, 5 * mib, 50 * mib, 55 * mib, 55 * mib, "the memory limit of 55M was reached: --memory 60M, but no more was available at the start"},
	} {
		t.Run(name, func(t *testing.T) {
			b := memoryBounds(c.wanted, c.available, c.held)
			if b.states != c.states || b.process != c.process {
				t.Errorf("%d for states and %d for the process, want %d and %d", b.states, b.process, c.states, c.process)
			}
			if b.reached != c.reached {
				t.Errorf("the message is\n%s, want\n%s", b.reached, c.reached)
			}
		})
	}
}

// TestRest: what a second process may hold is not what this one holds, but room to
// evaluate. The numbers are computed by hand.
func TestRest(t *testing.T) {
	for name, c := range map[string]struct{ limit, held, want int64 }{
		"nothing is held":   {1000, 0, 1000},
		"little is held":    {1000, 50, 950},
		"much is held":      {5120, 4096, 1024},
		"room is left":      {5120, 4992, 128},
		"less than room":    {5120, 5100, 128},
		"all is held":       {5120, 5120, 128},
		"more is held":      {5120, 6000, 128},
		"a small limit":     {60, 0, 60},
		"a small one, held": {60, 50, 30},
		"no limit":          {0, 50, 0},
	} {
		if got := rest(c.limit<<20, c.held<<20); got != c.want<<20 {
			t.Errorf("%s: %d bytes of %d MiB, of which %d are held; want %d MiB", name, got, c.limit, c.held, c.want)
		}
	}
}

// TestASearchMayGrow: whatever is asked for and held, a search may grow by what is
// available or by 128 MiB, whichever is less, and never by more than is available.
func TestASearchMayGrow(t *testing.T) {
	const mib = 1 << 20
	sizes := []int64{0, 1, 20, 127, 128, 129, 600, 5000}
	for _, wanted := range sizes {
		for _, available := range sizes {
			for _, held := range sizes {
				grow := memoryBounds(wanted*mib, available*mib, held*mib).process/mib - held
				if grow < min(available, 128) || grow > available {
					t.Errorf("--memory %dM, %d MiB available, %d held: it may grow by %d MiB", wanted, available, held, grow)
				}
			}
		}
	}
}
