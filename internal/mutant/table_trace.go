// SPDX-License-Identifier: Apache-2.0

package mutant

// traceMutants are about trace files and their validation: a log that no
// behaviour explains is rejected, and one that some behaviour explains is not.
func traceMutants() []Mutant {
	log := []string{"distsys/tracelog"}
	conform := []string{"internal/conform"}
	const brute = "TestSearchAgreesWithBruteForce|TestRealRuns"
	const stepTests = "TestSections"
	return []Mutant{
		{
			Name: "distsys/tracelog/merge-takes-the-left", Kind: Unsound, In: "distsys/tracelog", Packages: log,
			Breaks: "Merging clocks keeps the left count of an actor, even where the right one is higher.",
			Old:    "Tick{c[i].Actor, max(c[i].N, d[j].N)}",
			New:    "Tick{c[i].Actor, c[i].N}",
		},
		{
			Name: "distsys/tracelog/labels-need-not-follow", Kind: Unguarded, In: "distsys/tracelog", Packages: log,
			Breaks: "A log may go to one label and go on at another.",
			Old:    "if last != nil && last.Next != e.Label {",
			New:    "if last != nil && last.Next == \"\" {",
		},
		{
			Name: "distsys/tracelog/gap-in-a-log", Kind: Unsound, In: "distsys/tracelog", Packages: log,
			Breaks: "A log with a section missing is read as if it were whole.",
			Old:    "if e.N != committed+1 {",
			New:    "if e.N <= committed {",
		},
		{
			Name: "distsys/tracelog/clock-may-go-back", Kind: Unguarded, In: "distsys/tracelog", Packages: log,
			Breaks: "A section may have seen less than the one before it.",
			Old:    "if last != nil && !last.Clock.LessEq(e.Clock) {",
			New:    "if last != nil && len(e.Clock) == 0 {",
		},
		{
			Name: "conform/clock-is-ignored", Kind: Unsound, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "A section may be put before what it has seen.",
			Old:    "if j != i && at[j] < need {",
			New:    "if j != i && at[j]+1 < need {",
		},
		{
			Name: "conform/state-is-not-in-the-key", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "Positions that were met with another state of the specification are not tried.",
			Old:    "\tkey = append(key, f.state...)\n",
			New:    "",
		},
		{
			Name: "conform/sends-are-private", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "A section that only writes is taken at once, as if nobody could see when.",
			Old:    "return len(e.Accesses) == 0 && !e.Crash }",
			New:    "return !e.reads() }",
		},
		{
			Name: "conform/receives-are-private", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: "TestWhatIsReadMayBeHidden",
			Breaks: "A section that only reads is taken at once, before what it reads may be there.",
			Old:    "return len(e.Accesses) == 0 && !e.Crash }",
			New:    "return len(e.Accesses) == 0 || e.reads() }",
		},
		{
			Name: "conform/due-when-written", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: "TestTheOrderOfTrial",
			Breaks: "Sends are tried in the order in which they were logged, so real runs need exponentially many attempts.",
			Old:    "if l.Events[k].reads() || l.Events[k].Crash {\n",
			New:    "if !l.Events[k].private() {\n",
		},
		{
			Name: "conform/last-section-is-not-checked", Kind: Unsound, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "A log is explained when all but its last section is.",
			Old:    "if at[i] < len(l.Events) {\n\t\t\treturn false",
			New:    "if at[i]+1 < len(l.Events) {\n\t\t\treturn false",
		},
		{
			Name: "conform/budget-used-up-is-accepted", Kind: Unsound, In: "internal/conform", Packages: conform,
			Breaks: "A search that gives up says that the log is explained.",
			Old:    "s.entered > s.budget {\n\t\t\treturn Undecided, nil",
			New:    "s.entered > s.budget {\n\t\t\treturn Accepted, nil",
		},
		{
			Name: "conform/trimmed-too-little", Kind: WrongAnswer, In: "internal/conform", Packages: conform,
			Breaks: "Sections that have seen one section more than a cut log has are judged all the same.",
			Old:    "if n > len(logs[i].Events) {",
			New:    "if n > len(logs[i].Events)+1 {",
		},
		{
			Name: "conform/step-may-end-early", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The log may have accesses that the step of the specification does not make.",
			Old:    "if n < len(want.Accesses) {",
			New:    "if n < len(want.Accesses)-1 {",
		},
		{
			Name: "conform/step-may-go-on", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The step of the specification may make accesses that the log does not have.",
			Old:    "\t\tw.note(o)\n\t\treturn false\n\t}\n\twant := w.want[n]",
			New:    "\t\tw.note(o)\n\t\treturn true\n\t}\n\twant := w.want[n]",
		},
		{
			Name: "conform/values-are-not-compared", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The log may have read or written another value than the specification.",
			Old:    "sameAll(have.Indices, want.Indices) && same(have.Value, want.Value) {",
			New:    "sameAll(have.Indices, want.Indices) {",
		},
		{
			Name: "conform/indices-are-not-compared", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The log may have sent to another mailbox than the specification.",
			Old:    "sameAll(have.Indices, want.Indices) && same(have.Value, want.Value) {",
			New:    "len(have.Indices) == len(want.Indices) && same(have.Value, want.Value) {",
		},
		{
			Name: "conform/variables-are-not-compared", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The variables in the log need not be those of the specification.",
			Old:    "if !same(have, v.Value) {",
			New:    "if have.Kind() != v.Value.Kind() {",
		},
		{
			Name: "conform/next-label-is-not-compared", Kind: Unsound, In: "internal/conform", Packages: conform, Run: stepTests,
			Breaks: "The log may go on at a label where the specification does not.",
			Old:    "label != want.Next {",
			New:    "label == \"\" {",
		},
	}
}
