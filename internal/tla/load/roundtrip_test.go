// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/syntax"
)

// TestCorpusPrints prints the body of every definition of the corpus and
// parses it again. With parentheses around everything it must give the same
// tree as with the parentheses that the precedences require.
func TestCorpusPrints(t *testing.T) {
	printed := 0
	seen := map[string]bool{}
	for _, path := range corpus(t) {
		l, _, err := Load(disk{}, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l == nil {
			continue // TestCorpusLoads reports it
		}
		for _, d := range l.Spec.Defs {
			if d.Body == nil {
				continue
			}
			text, full := core.Format(d.Body, 0), core.FormatParenthesized(d.Body, 0)
			if seen[text+full] {
				continue
			}
			seen[text+full] = true
			short, list := syntax.ParseExpr(source.NewFile("short", []byte(text)))
			if list.Len() > 0 {
				t.Errorf("%s: %s prints as\n%s\n%v", path, d.FullName(), text, list)
				continue
			}
			long, list := syntax.ParseExpr(source.NewFile("long", []byte(full)))
			if list.Len() > 0 {
				t.Errorf("%s: %s prints in full as\n%s\n%v", path, d.FullName(), full, list)
				continue
			}
			if skeleton(short) != skeleton(long) || words(short) != words(long) {
				t.Errorf("%s: %s prints as\n%s\nwhich is not\n%s", path, d.FullName(), text, full)
			}
			if _, list := syntax.ParseModule(source.NewFile("M", []byte("---- MODULE M ----\n"+core.FormatDef(d)+"\n====\n"))); list.Len() > 0 {
				t.Errorf("%s: %s is defined as\n%s\n%v", path, d.FullName(), core.FormatDef(d), list)
			}
			printed++
		}
	}
	if printed < 1000 {
		t.Errorf("printed %d definitions, want thousands", printed)
	}
}

// skeleton shows the shape of a tree.
func skeleton(n syntax.Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%T(", n)
	syntax.Inspect(n, func(c syntax.Node) bool {
		if c != n {
			b.WriteString(skeleton(c))
		}
		return c == n
	})
	return b.String() + ")"
}

// words is the text of a tree without white space.
func words(n syntax.Node) string { return strings.Join(strings.Fields(syntax.Format(n)), " ") }

// operators are those of Table 6 of "Specifying Systems", and prefix minus.
const operators = `
	~ ENABLED UNCHANGED [] <> SUBSET UNION DOMAIN -. => -+-> <=> ~> /\ \/ /= -| ::= := < = =| > \approx
	\asymp \cong \doteq >= \gg \in <= \ll \notin \prec \preceq \propto \sim \simeq \sqsubset \sqsubseteq
	\sqsupset \sqsupseteq \subset \subseteq \succ \succeq \supset \supseteq |- |= \cdot @@ :> <: \ \cap
	\cup .. ... !! ## $ $$ ? ?? \sqcap \sqcup \uplus \wr (+) + ++ % %% | || \X (-) - -- & && (.) (/) (\X)
	* ** / // \bigcirc \bullet \div \o \star ^ ^^ ' ^+ ^* ^#
`

// TestPrecedences compares the printer's precedences with the parser's.
func TestPrecedences(t *testing.T) {
	for _, name := range strings.Fields(operators) {
		op, ok := syntax.LookupOperator(name)
		if !ok {
			t.Errorf("the parser does not know %s", name)
		}
		operands, postfix := 2, op.Fixity == syntax.PostfixOp
		if op.Fixity != syntax.InfixOp {
			operands = 1
		}
		low, high, left, ok := core.Precedence(op.Name, operands, postfix)
		if !ok || low != op.Low || high != op.High || left != op.LeftAssociative {
			t.Errorf("%s: the printer has %d-%d %v, the parser %d-%d %v", op.Name, low, high, left, op.Low, op.High, op.LeftAssociative)
		}
	}
}
