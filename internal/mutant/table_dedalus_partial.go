// SPDX-License-Identifier: Apache-2.0

package mutant

// partialMutants are about partial partitionings of Dedalus programs: the conditions,
// the rewritten program, and the checks.
func partialMutants() []Mutant {
	const rewrite, certificate = "internal/dedalus/rewrite", "internal/dedalus/certificate"
	row := func(name, in, run, breaks, old, new string) Mutant {
		return Mutant{Name: in + "/" + name, Kind: WrongAnswer, In: in, Packages: []string{in}, Run: run, Breaks: breaks, Old: old, New: new}
	}
	return []Mutant{
		row("partial-freezes-too-late", rewrite, "TestPartialExplored", "A piece deals with divided inputs after it has voted.",
			"sync $C_frozen() <- $C_voted(v), $C_done(d), v > d", "sync $C_frozen() <- $C_voted(v), $C_done(d), v > d + 1"),
		row("partial-depth-of-nothing", rewrite, "TestPartialExplored", "What an input causes in later ticks meets what comes then.",
			"w.depth = max(w.depth, lag)", "w.depth = max(w.depth, lag-1)"),
		row("partial-echo-meets", rewrite, "TestPartialRefused", "What a divided input causes a tick later is joined with state of then.",
			"return !global && w.lag[rel] > 0", "return !global && w.lag[rel] > 1"),
		row("partial-forgets-by-itself", rewrite, "TestPartialRefused", "State is forgotten in ticks that the node before did not have.",
			"if !g.Negated || !caused {", "if !g.Negated && caused {"),
		row("partial-sum-is-used", rewrite, "TestPartialRefused", "Each piece decides by its own part of a count.",
			"|| uses != 2 || args != 1 {", "|| args != 1 {"),
		row("partial-votes-restless", rewrite, "TestRelayExplored", "A piece votes while it goes on by itself.",
			`settled += ", not $C_busy()"`, `settled += ", $C_voted(_)"`),
		row("partial-blinks", rewrite, "TestRelayRefused", "What changes for ever is waited for.",
			"if w.lasts(rel) == brief && w.feeds(", "if w.lasts(rel) == forever && w.feeds("),
		row("partial-one-piece-counts", rewrite, "TestPartialOneForAll", "A receiver waits for the counts of pieces that send nothing.",
			"return literalRelation(l) == t.names[name+\"_turn\"]", "return literalRelation(l) == t.names[name+\"_sent\"]"),
		row("relay-keeps-a-timer", rewrite, "TestRelayExplored", "Rules that have moved wait for a timer that their component has not.",
			"d.step.Kind == Relay && rel.Kind == logic.Timer ||", "d.step.Kind == Relay && rel.Kind == logic.Static ||"),
		row("partial-rules-are-compared", certificate, "TestPartialEveryChangeIsRefused", "A rule of the order or of a piece may be another one.",
			"got != l {", "len(got) != len(l) {"),
		row("partial-depth-is-checked", certificate, "TestPartialFalseClaims", "A claim may say that an input is over before it is.",
			"lag > d.claim.Partial.Depth {", "lag > d.claim.Partial.Depth+1 {"),
		row("partial-late-is-checked", certificate, "TestPartialForbidden", "What comes late may meet what comes in.",
			"case late && (atoms > 1 ||", "case late && (atoms > 2 ||"),
		row("partial-sums-are-sealed", certificate, "TestPartialFalseClaims", "A count of one piece is sent as that of all.",
			"if column >= 0 && !slices.Contains(", "if column > 9 && !slices.Contains("),
		row("partial-relations-are-compared", certificate, "TestPartialEveryChangeIsRefused", "Numbers are forgotten in a crash, or merge where they must not.",
			"if !w.relations[r.String()] {", "if !w.relations[r.String()] && r.Kind == logic.Static {"),
		row("partial-calm-is-checked", certificate, "TestSettlingForbidden", "What is carried may depend on itself for ever.",
			"ready = ready && (calm[on] || on == n && k == always)", "ready = ready && (calm[on] || on == n && k > 0)"),
		row("passed-on-as-it-is", certificate, "TestPartialEveryChangeIsRefused", "What is passed on merges on the way.",
			"&& a.Lattice == b.Lattice", ""),
	}
}
