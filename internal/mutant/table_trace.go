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
			Name: "distsys/tracelog/backslash-is-plain", Kind: WrongAnswer, In: "distsys/tracelog", Packages: []string{"distsys/tracelog"}, Run: "TestLinesAreJSON",
			Breaks: "A string with a backslash in it makes a line of a trace that no reader understands.",
			Old:    "c > '~' || c == '\"' || c == '\\\\' {",
			New:    "c > '~' || c == '\"' {",
		},
		{
			Name: "distsys/tracelog/each-line-takes-new-memory", Kind: WrongAnswer, In: "distsys/tracelog", Packages: []string{"distsys/tracelog"}, Run: "TestRecordAllocatesNothing",
			Breaks: "The writer of a trace allocates memory for each section.",
			Old:    "w.line = w.line[:0]\n\tw.event(e)",
			New:    "w.line = nil\n\tw.event(e)",
		},
		{
			Name: "distsys/tracelog/merge-takes-the-left", Kind: Unsound, In: "distsys/tracelog", Packages: log,
			Breaks: "Merging clocks keeps the left count of an actor, even where the right one is higher.",
			Old:    "Tick{c[i].Actor, max(c[i].N, d[j].N)}",
			New:    "Tick{c[i].Actor, c[i].N}",
		},
		{
			Name: "distsys/tracelog/labels-need-not-follow", Kind: Unguarded, In: "distsys/tracelog", Packages: log,
			Breaks: "A log may go to one label and go on at another.",
			Old:    "if last.N > 0 && last.Next != e.Label {",
			New:    "if last.N > 0 && last.Next == \"\" {",
		},
		{
			Name: "distsys/tracelog/gap-in-a-log", Kind: Unsound, In: "distsys/tracelog", Packages: log,
			Breaks: "A log with a section missing is read as if it were whole.",
			Old:    "if e.N != last.N+1 {",
			New:    "if e.N <= last.N {",
		},
		{
			Name: "distsys/tracelog/clock-may-go-back", Kind: Unguarded, In: "distsys/tracelog", Packages: log,
			Breaks: "A section may have seen less than the one before it.",
			Old:    "if last.N > 0 && !last.Clock.LessEq(e.Clock) {",
			New:    "if last.N > 0 && len(e.Clock) == 0 {",
		},
		{
			Name: "conform/clock-is-ignored", Kind: Unsound, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "A section may be put before what it has seen.",
			Old:    "if j != i && !s.stream.processes[j].met(need, at[j]) {",
			New:    "if j != i && !s.stream.processes[j].met(need, at[j]+1) {",
		},
		{
			Name: "conform/state-is-not-in-the-key", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "Positions that were met with another state of the specification are not tried.",
			Old:    "return string(s.spec.Key(key, p.state))",
			New:    "return string(key)",
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
			Old:    "if e.reads() || e.Crash {\n",
			New:    "if !e.private() {\n",
		},
		{
			Name: "conform/last-section-is-not-checked", Kind: Unsound, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "A log is explained when all but its last section is.",
			Old:    "if p.ended && k >= p.end {",
			New:    "if p.ended && k+1 >= p.end {",
		},
		{
			Name: "conform/budget-used-up-is-accepted", Kind: Unsound, In: "internal/conform", Packages: conform,
			Breaks: "A search that gives up says that the log is explained.",
			Old:    "s.exhausted() {\n\t\t\treturn Undecided, nil",
			New:    "s.exhausted() {\n\t\t\treturn Accepted, nil",
		},
		{
			Name: "conform/hidden-steps-are-few", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: "TestManyHiddenSteps",
			Breaks: "Logs are rejected although more steps of a process without a log than the first search tries explain them.",
			Old:    "n.hidden, s.lost = false, true",
			New:    "n.hidden = false",
		},
		{
			Name: "conform/a-missing-life-was-not-seen", Kind: Unsound, In: "internal/conform", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/lives",
			Breaks: "A section that has seen a life without a log is checked as if that life had not been.",
			Old:    "if s.isLife(t.Actor) {",
			New:    "if s.live != nil && s.isLife(t.Actor) {",
		},
		{
			Name: "distsys/counter/what-aborted-counts", Kind: WrongAnswer, In: "distsys/resource/counter", Packages: []string{"distsys/resource/counter"}, Run: "TestCounter",
			Breaks: "What a section added before it aborted is added by the next one.",
			Old:    "func (s *share) Abort(*distsys.Tx) { s.added = 0 }",
			New:    "func (s *share) Abort(*distsys.Tx) {}",
		},
		{
			Name: "distsys/counter/all-peers-are-believed", Kind: Unguarded, In: "distsys/resource/counter", Packages: []string{"distsys/resource/counter"}, Run: "TestBelievesNoOther",
			Breaks: "A node may say what processes of other nodes have added.",
			Old:    "if !a.of[k] || count > math.MaxInt32 {",
			New:    "if count > math.MaxInt32 {",
		},
		{
			Name: "distsys/counter/the-last-count-is-lost", Kind: Lost, In: "distsys/resource/counter", Packages: []string{"distsys/resource/counter"}, Run: "TestLinger",
			Breaks: "A node ends before the others have what it added.",
			Old:    "if version != r.version {",
			New:    "if version > r.version {",
		},
		{
			Name: "conform/trimmed-too-little", Kind: WrongAnswer, In: "internal/conform", Packages: conform,
			Breaks: "Sections that have seen one section more than a cut log has are judged all the same.",
			Old:    "return p.ended && !p.met(at, p.end) }",
			New:    "return p.ended && !p.met(at, p.end+1) }",
		},
		{
			Name: "conform/a-component-of-the-clock-is-forgotten", Kind: Unsound, In: "internal/conform", Packages: conform, Run: "TestAllOrders",
			Breaks: "What a section has seen of the first log does not count.",
			Old:    "if j != i && !s.stream.processes[j].met(need, at[j]) {",
			New:    "if j > 0 && j != i && !s.stream.processes[j].met(need, at[j]) {",
		},
		{
			Name: "conform/a-section-may-be-missing", Kind: Unsound, In: "internal/conform", Packages: conform,
			Breaks: "A log whose sections are not counted without a gap is searched.",
			Old:    "if own := e.needs[i]; own != (place{int32(p.life), uint64(f.events)}) {",
			New:    "if own := e.needs[i]; own.n == 0 {",
		},
		{
			Name: "conform/forgotten-orders-do-not-exist", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "Logs are rejected although the search had forgotten alternatives, one of which explains them.",
			Old:    "\t\ts.lost = true\n",
			New:    "",
		},
		{
			Name: "conform/one-order-for-each-level", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: brute,
			Breaks: "The search of all orders takes the first section that may come next, and no other.",
			Old:    "for _, c := range order {\n\t\t\tstates, b, err",
			New:    "for _, c := range order[:min(1, len(order))] {\n\t\t\tstates, b, err",
		},
		{
			Name: "conform/nothing-is-forgotten", Kind: Unguarded, In: "internal/conform", Packages: conform, Run: "TestLongLogs",
			Breaks: "The sections of a long log stay in memory.",
			Old:    "s.stream.forget(s.stack[0].at)",
			New:    "_ = s.stack[0].at",
		},
		{
			Name: "conform/invariants-are-dropped", Kind: Unsound, In: "internal/conform", Packages: conform, Run: "TestInvariants",
			Breaks: "A run that broke an invariant is accepted.",
			Old:    "if s.broken = p.broken; p.broken != nil {",
			New:    "if s.broken = p.broken; false {",
		},
		{
			Name: "conform/a-violation-is-forgotten-on-the-way", Kind: Unsound, In: "internal/conform", Packages: conform, Run: "TestInvariants",
			Breaks: "An invariant that is false on the way, and not at its end, counts as kept.",
			Old:    "done: p.done + 1, broken: p.broken}",
			New:    "done: p.done + 1}",
		},
		{
			Name: "model/traces-have-no-invariants", Kind: Unsound, In: "internal/model", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/trace$",
			Breaks: "The invariants of the configuration are not evaluated along a trace.",
			Old:    "if err != nil || i < 0 {\n\t\treturn \"\", nil, err",
			New:    "if err != nil || i >= 0 {\n\t\treturn \"\", nil, err",
		},
		{
			Name: "conform/all-orders-permute-nothing", Kind: Unsound, In: "internal/conform", Packages: conform, Run: "TestAllOrders",
			Breaks: "Of the sections that may come next, all orders take one, whatever the others touch.",
			Old:    "\t\tif alone {\n\t\t\treturn []candidate{c}, nil",
			New:    "\t\tif alone || !alone {\n\t\t\treturn []candidate{c}, nil",
		},
		{
			Name: "conform/all-orders-look-at-what-comes-next", Kind: Unsound, In: "internal/conform", Packages: conform, Run: "TestAllOrders",
			Breaks: "A section counts as independent if it is so of the next section of each other process.",
			Old:    "for k := at[j]; ; k++ {",
			New:    "for k := at[j]; k == at[j]; k++ {",
		},
		{
			Name: "conform/all-orders-permute-everything", Kind: Unguarded, In: "internal/conform", Packages: conform, Run: "TestIndependent",
			Breaks: "Sections on different cells are tried in all orders.",
			Old:    "return c.Variable == d.Variable && sameAll(c.Indices[:n], d.Indices[:n])",
			New:    "return c.Variable == d.Variable && n > 0",
		},
		{
			Name: "conform/all-orders-keep-one-state", Kind: WrongAnswer, In: "internal/conform", Packages: conform, Run: "TestAllOrders",
			Breaks: "Of the states that an order may lead to, one is followed.",
			Old:    "out = append(out, seen[key])\n\t\tall.Write",
			New:    "out = append(out[:0], seen[key])\n\t\tall.Write",
		},
		{
			Name: "distsys/tracelog/a-line-is-forgotten-that-grows", Kind: WrongAnswer, In: "distsys/tracelog", Packages: log,
			Breaks: "What a reader of a growing file has of a line is lost when the end of the line comes later.",
			Old:    "\t\tr.partial = line\n",
			New:    "",
		},
		{
			Name: "cli/run/a-network-is-hidden", Kind: Unguarded, In: "internal/cli/run", Packages: []string{"cmd/ashlar"}, Run: "TestRunRefuses",
			Breaks: "Processes that exchange messages run on one node because they share a variable, and there is no network between them.",
			Old:    "if len(shared) > 0 && len(exchanged) > 0 && !s.o.together && s.o.system == \"\" {",
			New:    "if len(shared) > 0 && len(exchanged) > 9 && !s.o.together && s.o.system == \"\" {",
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
			Old:    "return missed(\"the specification %s here, the log has no further access\", have)",
			New:    "return !missed(\"the specification %s here, the log has no further access\", have)",
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
