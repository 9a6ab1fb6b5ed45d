// SPDX-License-Identifier: Apache-2.0

package mutant

// spillMutants are about searches that go to disk, are resumed, or omit states:
// their counts must stay exact.
func spillMutants() []Mutant {
	return append(append(append(seenMutants(), storeMutants()...), reductionMutants()...), append(workersMutants(), keptMutants()...)...)
}

func seenMutants() []Mutant {
	tests := []string{"internal/check/fpset"}
	return []Mutant{
		{
			Name: "check/seen/growing-loses-first-slot", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests, Run: "Seen",
			Breaks: "When a table grows, the fingerprint in its first slot is forgotten, so a state is explored twice.",
			Old:    "for _, x := range old {",
			New:    "for _, x := range old[1:] {",
		},
		{
			Name: "check/seen/lower-mark-is-not-kept", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests, Run: "Seen",
			Breaks: "The chunk that finds a state first keeps it, so that parents and traces depend on the race of the workers.",
			Old:    "if atomic.CompareAndSwapUint64(&slots[i], x, key|uint64(m)) {",
			New:    "if o == Lowered || atomic.CompareAndSwapUint64(&slots[i], x, key|uint64(m)) {",
		},
		{
			Name: "check/seen/anybody-settles", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests, Run: "Seen",
			Breaks: "A state belongs to the chunk that asks for it first, and not to the lowest chunk that found it.",
			Old:    "if x != key|uint64(m) {",
			New:    "if Mark(x) < FirstPiece {",
		},
		{
			Name: "check/seen/what-is-on-disk-is-lowered", Kind: WrongAnswer, In: "internal/check/fpset", Packages: tests, Run: "Seen",
			Breaks: "A worker that is alone takes a state that lies on disk, and in memory too, for a new one.",
			Old:    "if _, x := seek(*table.Load(), key); x != 0 && Mark(x) <= m {\n\t\treturn Present, 0\n\t}",
			New:    "if _, x := seek(*table.Load(), key); Mark(x) == Cached && m == Old {\n\t\treturn Lowered, Cached\n\t}",
		},
	}
}

func storeMutants() []Mutant {
	tests := []string{"internal/check"}
	return []Mutant{
		{
			Name: "check/spill/last-of-a-page-is-not-found", Kind: WrongAnswer, In: "internal/check/spill", Packages: []string{"internal/check/spill"}, Run: "Run",
			Breaks: "The last fingerprint of a page of a run counts as not there, so its state is explored twice.",
			Old:    "if i < n && at(i) == fp {",
			New:    "if i < n-1 && at(i) == fp {",
		},
		{
			Name: "check/spill/merge-loses-the-rest", Kind: WrongAnswer, In: "internal/check/spill", Packages: []string{"internal/check/spill"}, Run: "Merge",
			Breaks: "Where one run is at its end, what the other still has is not merged.",
			Old:    "case !okA && !okB:",
			New:    "case !okA || !okB:",
		},
		{
			Name: "check/spill/damage-is-read", Kind: Unguarded, In: "internal/check/spill", Packages: []string{"internal/check/spill"}, Run: "Damaged",
			Breaks: "A page of a run that is not what was written is believed.",
			Old:    "if sum != checksum(page[4:]) || n == 0 || n > pageMax {",
			New:    "if n == 0 || n > pageMax {",
		},
		{
			Name: "check/store/newest-run-is-not-searched", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "Bounded",
			Breaks: "Candidates are not looked for in the run that was written last.",
			Old:    "for _, r := range st.runs {\n\t\t\t\tif errs[i] == nil {",
			New:    "for _, r := range st.runs[:max(0, len(st.runs)-1)] {\n\t\t\t\tif errs[i] == nil {",
		},
		{
			Name: "check/store/what-was-dropped-is-not-looked-for", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "Bounded",
			Breaks: "Fingerprints are dropped from memory, and the search goes on as if they were there.",
			Old:    "st.partial = st.partial || drop && s.set.Len() > fresh",
			New:    "_ = drop",
		},
		{
			Name: "check/store/old-state-breaks-an-invariant-again", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "Bounded",
			Breaks: "A state that is on disk under the same key is held against the invariants as if it were new.",
			Old:    "return known\n",
			New:    "return known && false\n",
		},
		{
			Name: "check/segments-of-a-level-are-dropped", Kind: Unsound, In: "internal/check", Packages: tests, Run: "Bounded|WorkersAgree",
			Breaks: "The next level begins after the first segment of this one.",
			Old:    "if s.level.inLevel() == 0 {\n\t\t\ts.deeper()",
			New:    "if s.level.inLevel() == 0 || !s.level.opens() {\n\t\t\ts.deeper()",
		},
		{
			Name: "check/higher-chunk-claims", Kind: WrongAnswer, In: "internal/check", Packages: tests, Run: "WorkersAgree",
			Breaks: "Of several chunks that find a state the last one has it, so that parents and traces depend on how a level is cut.",
			Old:    "w.mark = s.marks.of(k)",
			New:    "w.mark = s.marks.of(int64(s.segment.size()) - 1 - k)",
		},
		{
			Name: "check/resume/skips-the-rest-of-a-level", Kind: Unsound, In: "internal/check", Packages: tests, Run: "Resume",
			Breaks: "What of a level was not expanded when the checkpoint was kept is left out.",
			Old:    "l.index, l.number, l.left, l.ahead = m.Level, m.Number, m.Left, m.Ahead",
			New:    "l.index, l.number, l.left, l.ahead = m.Level, m.Number+uint32(m.Left), 0, m.Ahead",
		},
		{
			Name: "check/resume/another-specification-is-resumed", Kind: Unsound, In: "internal/check", Packages: tests, Run: "Refused",
			Breaks: "A checkpoint of another specification is gone on with.",
			Old:    "case m.Identity[i] != want[i]:",
			New:    "case m.Identity[i].Name != want[i].Name:",
		},
		{
			Name: "check/resume/violations-are-forgotten", Kind: Unsound, In: "internal/check", Packages: tests, Run: "ResumeContinues",
			Breaks: "What the search had gone on after before it was killed is not reported.",
			Old:    "range m.Found {\n\t\tr.note(",
			New:    "range m.Found[:0] {\n\t\tr.note(",
		},
		{
			Name: "check/checkpoint/data-is-not-durable", Kind: Lost, In: "internal/check", Packages: tests, Run: "Resume",
			Breaks: "The manifest is durable before the states that it counts.",
			Old:    "errors.Join(tape.Store(false, 0), tape.Sync())",
			New:    "tape.Store(false, 0)",
		},
		{
			Name: "check/checkpoint/files-go-too-early", Kind: Lost, In: "internal/check", Packages: tests, Run: "Resume",
			Breaks: "Files that the last checkpoint names are removed before there is another.",
			Old:    "return slices.Contains(k.durable, name)",
			New:    "return name == manifestName",
		},
	}
}

func reductionMutants() []Mutant {
	tests := []string{"internal/model"}
	return []Mutant{
		{
			Name: "eval/reduce/cycles-are-taken-alone", Kind: Unsound, In: "internal/model/reduce", Packages: tests, Run: "Reduc",
			Breaks: "A process that loops over own variables is taken alone forever, and what the others do is never seen.",
			Old:    "closes[b] = true",
			New:    "closes[b] = false",
		},
		{
			Name: "eval/reduce/seen-variables-are-taken-alone", Kind: Unsound, In: "internal/model/reduce", Packages: tests, Run: "Reduc",
			Breaks: "A step that assigns what an invariant mentions is taken alone.",
			Old:    "ok = ok && a.own[pair.Target] == p && a.seen&program.VarBit(pair.Target.Index) == 0",
			New:    "ok = ok && a.own[pair.Target] == p",
		},
		{
			Name: "eval/reduce/shared-variables-are-read-alone", Kind: Unsound, In: "internal/model/reduce", Packages: tests, Run: "Reduc",
			Breaks: "A step that reads what other processes assign is taken alone.",
			Old:    "case *core.VarRef:\n\t\t\tok = ok && a.own[x.Var] == p",
			New:    "case *core.VarRef:\n\t\t\tok = ok && x.Var != nil",
		},
		{
			Name: "eval/reduce/labels-of-invariants-are-passed", Kind: Unsound, In: "internal/model/reduce", Packages: tests, Run: "Reduc",
			Breaks: "A step to a label that an invariant compares pc with is taken alone.",
			Old:    "ok = ok && !a.labels[s.Label]",
			New:    "ok = ok && s.Label != \"\"",
		},
		{
			Name: "eval/orbit/columns-forget-the-element", Kind: Unsound, In: "internal/model/symmetry", Packages: tests, Run: "Orbits",
			Breaks: "States that differ in which element stands at two places are taken for one.",
			Old:    "return value.Bool(at == p.at)",
			New:    "return value.Bool(at == 0 || at != 0)",
		},
		{
			Name: "eval/orbit/rows-are-not-sorted", Kind: WrongAnswer, In: "internal/model/symmetry", Packages: tests, Run: "Orbits",
			Breaks: "Images of one state have several names, and count as several.",
			Old:    "return s.compare(set, a, b)",
			New:    "return a - b",
		},
		{
			Name: "eval/orbit/sets-forget-their-plain-elements", Kind: Unsound, In: "internal/model/symmetry", Packages: tests, Run: "Orbits",
			Breaks: "Sets that differ in what mentions no element are taken for one.",
			Old:    "return value.SetOf(plain), true",
			New:    "return value.EmptySet(), true",
		},
		{
			Name: "eval/keep/left-behind-is-kept", Kind: Unsound, In: "internal/model", Packages: tests, Run: "NotKept",
			Breaks: "A search of a model that draws random numbers, or writes registers, is resumed.",
			Old:    "if program.HasEffects(d) && !harmless[d.Name] {",
			New:    "if program.HasEffects(d) && !harmless[d.Name] && d.Name == \"\" {",
		},
	}
}
