// SPDX-License-Identifier: Apache-2.0

package syntax_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/internal/dedalus/syntax"
	"github.com/ashlar-dev/ashlar/internal/source"
)

// TestFormat formats programs twice: the second time changes nothing. Errors are shown with
// their place.
func TestFormat(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			once, errs := format(d.Input)
			if errs != "" {
				return errs
			}
			twice, errs := format(once)
			if errs != "" || twice != once {
				d.Fatalf(t, "formatted again:\n%s%s", twice, errs)
			}
			return once
		})
	})
}

func format(text string) (out, errs string) {
	var diags source.List
	f := syntax.Parse(source.NewFile("p.ded", []byte(text)), &diags)
	if diags.HasErrors() {
		var b strings.Builder
		diags.Print(&b)
		return "", b.String()
	}
	return syntax.Format(f), ""
}

func TestDepthIsBounded(t *testing.T) {
	deep := "program p component c { sync r(x) <- q(x), x == " + strings.Repeat("(", 1_000_000)
	if _, errs := format(deep); !strings.Contains(errs, string(syntax.TooDeep)) {
		t.Errorf("got %.200s", errs)
	}
}

// FuzzParse: parsing any text ends, and the formatted text of a valid program formats to itself.
func FuzzParse(f *testing.F) {
	f.Add("program p\ncomponent c {\n  sync r(x, count<y>) <- q(x, y), not s(_), y < 1 + 2*x # why\n}\ndeploy { c: 1 }")
	f.Add("program p component c { static e(n: node) = { (node \"a\") } fd n -> n; log l(x) <- e(x)\n a@x(x) :~ e(x) }")
	f.Add("program p fn f(a: u64) -> u64 = (a - -1) % 3 assume growing r # end")
	f.Fuzz(func(t *testing.T, text string) {
		once, errs := format(text)
		if errs != "" {
			return
		}
		if twice, errs := format(once); twice != once {
			t.Errorf("once:\n%s\ntwice:\n%s%s", once, twice, errs)
		}
	})
}
