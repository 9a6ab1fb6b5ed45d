// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
)

// mutationsPerText bounds TestMutations; the seed is fixed.
const mutationsPerText = 300

// TestMutations drops, doubles and exchanges words of real texts: nothing may
// panic, and text that still parses must survive printing.
func TestMutations(t *testing.T) {
	texts := seedTexts()
	for _, c := range []string{"--algorithm A { variables x = 1; define { B == 1 } macro m(a) { skip } procedure P(a) { p: return } " +
		"fair process (Q \\in S) variables y; { a: while (x) { with (i = 1, j \\in T) x[i].f := 2 || y := 3; } ; either skip or { call P(1); goto a; } ; m(1); if (x) print 1; else assert y } }"} {
		texts = append(texts, "---- MODULE M ----\n(*\n"+c+"\n*)\n====\n")
	}
	r := rand.New(rand.NewPCG(1, 2))
	parsed := 0
	for _, text := range texts {
		s := &scanner{file: source.NewFile("M.tla", []byte(text)), text: []byte(strings.NewReplacer("(*", "", "*)", "").Replace(text))}
		s.scanAll(0)
		var words []string
		at := int32(0)
		for _, tok := range s.tokens {
			words = append(words, string(s.text[at:tok.end])) // with the space before it
			at = tok.end
		}
		for range mutationsPerText {
			w := append([]string(nil), words...)
			for range 1 + r.IntN(3) {
				i, j := r.IntN(len(w)), r.IntN(len(w))
				switch r.IntN(3) {
				case 0:
					w = append(w[:i], w[i+1:]...)
				case 1:
					w = append(w[:i], append([]string{w[j]}, w[i:]...)...)
				default:
					w[i], w[j] = w[j], w[i]
				}
			}
			mutant := strings.Join(w, "")
			if strings.Contains(mutant, "--") && r.IntN(2) == 0 {
				mutant = strings.Replace(mutant, "--algorithm", "(* --algorithm", 1)
				mutant = strings.Replace(mutant, "--mpcal", "(* --mpcal", 1)
				mutant = strings.Replace(mutant, "====", "*)\n====", 1)
			}
			m, errs := ParseModule(source.NewFile("M.tla", []byte(mutant)))
			if !errs.HasErrors() {
				parsed++
				reparse(t, mutant, m)
			}
		}
	}
	if parsed == 0 {
		t.Error("no mutant parses: the test shows nothing")
	}
}
