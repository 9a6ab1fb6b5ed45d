// SPDX-License-Identifier: Apache-2.0

package lower_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
)

// TestLower prints lowered programs. A printed program lowers to itself.
func TestLower(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			once, errs := read(d.Input)
			if once == "" {
				return errs
			}
			if twice, errs2 := read(once); twice != once {
				d.Fatalf(t, "read again:\n%s%s", twice, errs2)
			}
			return errs + once
		})
	})
}

func read(text string) (out, errs string) {
	p, errs := given.Read(text)
	if p == nil {
		return "", errs
	}
	return p.String(), errs
}

// FuzzLower: any program that parses is lowered or refused, and a lowered program can be parsed
// again.
func FuzzLower(f *testing.F) {
	f.Add("program p component c { table t(x: u64) delete when done(x), x > 1\n input q(x: u64)\n sync t(x) <- q(x)\n sync done(x) <- t(x) }")
	f.Add("program p component c { input q(x: node, y: text)\n async r@x(y, z) <- q(x, y), z := hash(y)\n sync m(count<y>, x) <- q(x, y), not s(x)\n next s(x) <- q(x, _) }")
	f.Add("program p component c { static e(a: u64) = { () }\n static m(n: node) = nodes c\n static k(n: u64, m: u64) = size c }\ndeploy { c: 4 }")
	f.Fuzz(func(t *testing.T, text string) {
		once, _ := read(text)
		if once == "" {
			return
		}
		if twice, errs := read(once); twice != once {
			t.Errorf("once:\n%s\ntwice:\n%s%s", once, twice, errs)
		}
	})
}
