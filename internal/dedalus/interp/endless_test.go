// SPDX-License-Identifier: Apache-2.0

package interp_test

import (
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/dedalus/given"
	"github.com/ashlar-dev/ashlar/internal/dedalus/interp"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// TestEndless: a tick that derives new facts without end is aborted, and the error names the
// rule and the limit. Nothing is sent, and the instance is unchanged. Ticks that end are not
// aborted.
func TestEndless(t *testing.T) {
	for name, c := range map[string]struct{ rule, limit string }{
		"numbers": {"sync up(y) <- up(x), y := x + 1", "DerivationsMax"},
		"merged":  {"sync top(y) <- top(x), y := x + 1\n  sync top(x) <- up(x)", "DerivationsMax"},
		"texts":   {"sync long(y) <- long(x), y := concat(x, x)\n  sync long(b\"a\") <- up(_)", "ValueMax"},
		"ends":    {"sync up(y) <- up(x), y := x + 1, y < 100", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := given.Program(t, "program p\ncomponent a {\n  input in(x: u64)\n  output out(x: u64)\n  var up(x: u64)\n  var top(x: max<u64>)\n  var long(x: bytes)\n"+
				"  table kept(x: u64)\n  next kept(x) <- in(x)\n  sync up(x) <- in(x)\n  "+c.rule+"\n  async out@node \"c\"(x) <- up(x)\n}\ndeploy { a: 1 }\n")
			n := interp.Deploy(p, nil, nil)[0]
			before := string(n.AppendKey(nil))
			tick := n.Tick([]interp.Fact{{Relation: p.Find("in"), Row: []logic.Value{{Kind: logic.U64, Num: 1}}}})
			if c.limit == "" {
				if tick.Endless != nil || len(tick.Sent) != 99 {
					t.Errorf("%v, %d sent", tick.Endless, len(tick.Sent))
				}
				return
			}
			if tick.Endless == nil || len(tick.Sent) > 0 || string(n.AppendKey(nil)) != before {
				t.Fatalf("%v, %d sent", tick.Endless, len(tick.Sent))
			}
			rule, _, _ := strings.Cut(c.rule, "(") // or the other one of its relation
			if text := tick.Endless.Error(); !strings.Contains(text, c.limit) || !strings.Contains(text, rule) {
				t.Error(text)
			}
		})
	}
}
