// SPDX-License-Identifier: Apache-2.0

package rewrite

import (
	"github.com/ashlar-dev/ashlar/internal/dedalus/analyze"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// A node of the original goes through one sequence of ticks; its pieces go through one
// each. Before the rewrite, a reply that reaches a piece by way of another one took one
// more tick of the node: if the piece has had no tick in the meantime, the original node
// must have had an idle one.

// timely reports whether neither part can observe that, if the other part can cause an input
// of it.
func timely(moved, kept analyze.Part) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	if analyze.Reaches(moved, kept) {
		and(&v, analyze.Timely(kept))
	}
	if analyze.Reaches(kept, moved) {
		and(&v, analyze.Timely(moved))
	}
	return v
}

// through reports whether the rest must forward all that the moved part reads. Then an answer
// comes back, as before the rewrite, in a later tick of the rest than the one in which the
// fact arrived.
func through(w *site) bool {
	return analyze.Reaches(w.moved, w.kept) && !analyze.Still(w.kept).Holds
}

// prompt reports whether a growing part takes no extra ticks, if the rest could observe how
// many it takes.
func prompt(w *site) analyze.Verdict {
	v := analyze.Verdict{Holds: true}
	if !through(w) {
		return v
	}
	for _, r := range w.moved.Rules {
		if _, ok := r.Persistence(); r.Kind == logic.Next && !ok {
			and(&v, no(r, "the rule takes an extra tick, and the rules that stay could observe it, because their state changes in ticks in which nothing is received"))
		}
	}
	return v
}
