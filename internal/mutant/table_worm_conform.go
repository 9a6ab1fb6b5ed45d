// SPDX-License-Identifier: Apache-2.0

package mutant

// wormConformMutants are mistakes of servers that only traces show: an action
// that is no step of the specification.
func wormConformMutants() []Mutant {
	conform := []string{"internal/evidence/worm/conform"}
	const run = "TestRunsConform"
	return []Mutant{
		{
			Name: "worm/conform/write-below-a-promise", Kind: Unsound, In: "internal/worm/paxos", Packages: conform, Run: run,
			Breaks: "A server accepts a value below what it has promised.",
			Old:    "\t\tif b.Less(run.Promised) {\n\t\t\trun.Status = wor.StatusOutbid\n\t\t\treturn run, false\n\t\t}", New: "",
		},
		{
			Name: "worm/conform/capture-again-below", Kind: Unsound, In: "internal/worm/paxos", Packages: conform, Run: run,
			Breaks: "A server promises a ballot though it has promised a higher one.",
			Old:    "case run.Promised != q.Ballot:", New: "case run.Promised != q.Ballot && run.Written:",
		},
		{
			Name: "worm/conform/promise-is-not-logged", Kind: Lost, In: "internal/worm/paxos", Packages: conform, Run: run,
			Breaks: "A promise is forgotten in a crash.",
			Old:    "q.Range.Segment, lo, end, q.Ballot)\n\tlog.Append(a.record)\n", New: "q.Range.Segment, lo, end, q.Ballot)\n",
		},
		{
			Name: "worm/conform/the-head-keeps-no-promise", Kind: Unsound, In: "internal/worm/chain", Packages: conform, Run: run,
			Breaks: "The head takes a value at a ballot that it has promised away.",
			Old:    "case a.head && q.Ballot.Less(promised):", New: "case a.head && q.Ballot.Less(promised) && false:",
		},
	}
}
