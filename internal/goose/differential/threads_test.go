// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// threads writes random programs with goroutines that share two variables,
// mostly with the lock held.
type threads struct {
	rand *rand.Rand
	out  strings.Builder
	used int
}

func (g *threads) line(depth int, format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", depth))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
}

func (g *threads) program(name string) string {
	g.out.Reset()
	g.used = 0
	n := 1 + g.rand.IntN(2)
	g.line(0, "func %s() uint64 {", name)
	g.line(1, "var mu sync.%s", []string{"Mutex", "RWMutex"}[g.rand.IntN(2)])
	g.line(1, "var wg sync.WaitGroup")
	g.line(1, "x, y := uint64(1), uint64(2)")
	g.line(1, "mu.Lock()") // so that it is used
	g.line(1, "mu.Unlock()")
	g.line(1, "wg.Add(%d)", n)
	for range n {
		g.line(1, "go func() {")
		for range 1 + g.rand.IntN(3-n) {
			g.access(2)
		}
		g.line(2, "wg.Done()")
		g.line(1, "}()")
	}
	if g.rand.IntN(2) == 0 {
		g.access(1)
	}
	g.line(1, "wg.Wait()")
	g.line(1, "return x*1000 + y")
	g.line(0, "}")
	return g.out.String()
}

// access is one critical section, or two, or, sometimes, none around an access.
func (g *threads) access(depth int) {
	shared := []string{"x", "y"}
	a, b := shared[g.rand.IntN(2)], shared[g.rand.IntN(2)]
	c := g.rand.IntN(5) + 2
	switch g.rand.IntN(6) {
	case 0, 1:
		g.line(depth, "mu.Lock()")
		g.line(depth, "%s = %s*%d + %s", a, a, c, b)
		g.line(depth, "mu.Unlock()")
	case 2:
		g.used++
		g.line(depth, "mu.Lock()")
		g.line(depth, "t%d := %s", g.used, a)
		g.line(depth, "mu.Unlock()")
		g.line(depth, "mu.Lock()")
		g.line(depth, "%s = t%d + %d", b, g.used, c)
		g.line(depth, "mu.Unlock()")
	case 3:
		g.line(depth, "mu.Lock()")
		g.line(depth, "if %s < %d {", a, c)
		g.line(depth, "\t%s += %d", b, c)
		g.line(depth, "}")
		g.line(depth, "mu.Unlock()")
	case 4:
		g.used++
		g.line(depth, "p%d := &%s", g.used, a)
		g.line(depth, "mu.Lock()")
		g.line(depth, "*p%d ^= %d", g.used, c)
		g.line(depth, "mu.Unlock()")
	default:
		g.line(depth, "%s += %d", a, c)
	}
}

// TestRandomThreads compares random programs with goroutines. A program that is
// never stuck in the model has no race that the race detector finds, and gives
// only results that the model gives. One that is stuck under some schedule has a
// race; whether the race detector meets it is not always certain.
func TestRandomThreads(t *testing.T) {
	t.Parallel()
	prepare(t)
	n := min(programs(t, 40), batch)
	seed := number(t, "ASHLAR_DIFFERENTIAL_SEED", 1)
	g := &threads{rand: rand.New(rand.NewPCG(uint64(seed), 1))}
	text := "// Package program was written at random.\npackage program\n\nimport \"sync\"\n"
	var functions []string
	for i := range n {
		functions = append(functions, fmt.Sprint("T", i))
		text += "\n" + g.program(functions[i])
	}
	module := newGoModule(t, text, functions)
	m := newModel(t, translateOne(t, module.dir, "./program"), functions)
	inModel := m.outcomes(t, "-mode", "exhaustive")
	binary := raceBinary(t, module)
	out, err := run("", 5*time.Minute, module.build(t), "5000")
	if err != nil {
		t.Fatal(err)
	}
	inGo := parseOutcomes(out)
	racy, found := 0, 0
	for _, f := range functions {
		values, other := split(inModel[f])
		race := races(t, binary, f, 200)
		if slices.Contains(other, "states") || slices.Contains(other, "deadlock") {
			t.Errorf("%s: %q in the model\n%s", f, other, functionText(text, f))
			continue
		}
		if len(other) > 0 {
			racy++
			if race {
				found++
			}
			continue
		}
		if race {
			t.Errorf("%s: the race detector finds a race, the model none\n%s", f, functionText(text, f))
		}
		for _, o := range inGo[f] {
			if !slices.Contains(values, o) {
				t.Errorf("%s: Go gives %s, the model %q\n%s", f, o, values, functionText(text, f))
			}
		}
	}
	t.Logf("%d programs, %d with a race in the model, of which the race detector finds %d", n, racy, found)
	if n >= 40 && racy == 0 || racy > n*3/4 {
		t.Errorf("%d of %d programs have a race: the generator has lost its balance", racy, n)
	}
}
