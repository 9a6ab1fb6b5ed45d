// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// number is an environment variable, or else a default.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no number above 0", name, s)
	}
	return n
}

// batch is how many programs one file of Coq has.
const batch = 160

// programs is how many random programs a test compares: as the environment says,
// or a number, less of it when tests are to be short.
func programs(t *testing.T, otherwise int) int {
	t.Helper()
	if testing.Short() {
		otherwise /= 4
	}
	return number(t, "ASHLAR_DIFFERENTIAL", otherwise)
}

// TestRandomPrograms compares random programs without goroutines.
func TestRandomPrograms(t *testing.T) {
	t.Parallel()
	prepare(t)
	first := number(t, "ASHLAR_DIFFERENTIAL_SEED", 1)
	for n, seed := programs(t, 2*batch), first; n > 0; n, seed = n-batch, seed+1 {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			compareRandom(t, uint64(seed), min(n, batch))
		})
	}
}

func compareRandom(t *testing.T, seed uint64, n int) {
	g := &generator{rand: rand.New(rand.NewPCG(seed, 0))}
	text, functions := g.source(n)
	module := newGoModule(t, text, functions)
	m := newModel(t, translateOne(t, module.dir, "./program"), functions)
	panics := compareSequential(t, text, functions, module, m)
	t.Logf("%d programs, %d of them panic", len(functions), panics)
	if n == batch && panics == 0 || panics > len(functions)/4 {
		t.Errorf("%d of %d programs panic: the generator has lost its balance", panics, len(functions))
	}
}

// functionText is the text of a function and of its helpers.
func functionText(text, name string) string {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "func "+name+"(") || strings.HasPrefix(line, "func help"+name+"_") {
			inside = true
		}
		if inside {
			b.WriteString(line)
		}
		if strings.HasPrefix(line, "}") {
			inside = false
		}
	}
	return b.String()
}
