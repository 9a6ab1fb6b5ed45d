// SPDX-License-Identifier: Apache-2.0

package mutant

// tombstoneMutants are about range deletes: the memory that they take, and what they hide.
func tombstoneMutants() []Mutant {
	row := func(name, in, breaks, before, after, by, run string) Mutant {
		return Mutant{
			Name: "store/tombstones/" + name, In: in, Kind: WrongAnswer, Breaks: breaks, Old: before, New: after,
			Packages: []string{by}, Run: run,
		}
	}
	const (
		trunk, merge, message, store = "internal/store/trunk", "internal/store/merge", "internal/store/message", "store"
		bounded                      = "TestRangeDeletesAreBounded"
	)
	return []Mutant{
		row("alone-they-are-not-merged", trunk, "Branches of nothing but range deletes are not merged into what they delete, and collect.",
			"if policy.tombs(p) {\n\t\t// A range", "if newer > 0 && policy.tombs(p) {\n\t\t// A range", store, bounded),
		row("changes-do-not-wait", store, "Range deletes come faster than merges apply them, and take all memory.",
			"db.work.awaitTombstones()", "_ = db.work", store, bounded),
		row("a-snapshot-keeps-them", trunk, "While a snapshot is open that does not see them, range deletes take all memory.",
			"(p.ManyTombstones || p.seen(r.Branch.firstTombstone))", "p.seen(r.Branch.firstTombstone)", store, bounded),
		row("applied-to-nothing", merge, "A range delete that a merge applies below a snapshot deletes nothing.",
			"p.stripe, p.sealed, p.deleted = stripe, true, seq", "p.stripe, p.sealed, p.deleted = stripe, true, 0", merge, "TestTombstonesAreApplied"),
		row("the-first-source-decides", merge, "An iterator takes the range deletes of one source for all that cover a key, until those of this source end.",
			"all.Meet(s.Around(p, c.at))", "if c := s.Around(p, c.at); c.Seq > all.Seq {\n\t\t\t\tall = c\n\t\t\t}", merge, "TestVisible|TestKeep"),
		row("one-of-a-group-is-passed-over", message, "Passing over a group of range deletes passes over one more, which may cover the key.",
			"i -= groupSize - 1", "i -= groupSize", message, "TestAround"),
		row("ends-are-forgotten", message, "A key below the end of a range delete counts as not covered, after a larger one was not.",
			"case p.after(t.Hi):\n\t\t\tc.Within(t.Hi, nil)", "case p.after(t.Hi):", message, "TestAround"),
		row("a-long-one-makes-all-slow", message, "One range delete over all others makes each key take as many steps as there are.",
			"if far := s.at(int(s.furthest[g])).Hi; p.after(far) {", "if far := s.at(int(s.before[g])).Hi; p.after(far) {", message, "TestAroundTakesFewSteps"),
	}
}
