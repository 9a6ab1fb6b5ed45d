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

// timely says whether neither part sees that, where the other can make something come
// in to it.
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

// through reports whether all that the moved part reads must come through the rest: it comes
// back then as it did before, at a later tick of the rest than the one in which the
// fact came.
func through(w *site) bool {
	return analyze.Reaches(w.moved, w.kept) && !analyze.Still(w.kept).Holds
}

// prompt says whether a part that only grows takes no ticks for it, where the rest would
// see how many.
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
