// SPDX-License-Identifier: Apache-2.0

package mutant

// wormGroupMutants are about the chain of servers, and the epochs of a partition.
func wormGroupMutants() []Mutant {
	return append(append(chainReplicaMutants(), chainClientMutants()...), append(epochMutants(), append(successionMutants(), mergeMutants()...)...)...)
}

func chainReplicaMutants() []Mutant {
	chain := []string{"internal/worm/chain"}
	return []Mutant{
		{
			Name: "worm/chain/the-head-forgets-captures", Kind: Unsound, In: "internal/worm/chain", Packages: chain,
			Breaks: "The head takes a write at a ballot that it has promised away.",
			Old:    "case a.head && q.Ballot.Less(promised):",
			New:    "case false:",
		},
		{
			Name: "worm/chain/another-value-is-acknowledged", Kind: Unsound, In: "internal/worm/chain", Packages: chain,
			Breaks: "A write of a register that has another value is said to be done.",
			Old:    "case c != nil && bytes.Equal(c.value, q.Value):",
			New:    "case c != nil:",
		},
		{
			Name: "worm/chain/a-promise-is-not-logged", Kind: Lost, In: "internal/worm/chain", Packages: chain,
			Breaks: "A restart forgets promises.",
			Old:    "a.promise(q.Range.Segment, span{q.Range.Lo, end, q.Ballot}, log)",
			New:    "a.promise(q.Range.Segment, span{q.Range.Lo, end, q.Ballot}, nil)",
		},
		{
			Name: "worm/chain/a-checkpoint-forgets-promises", Kind: Lost, In: "internal/worm/chain", Packages: chain,
			Breaks: "Save leaves out what was promised.",
			Old:    "for _, p := range s.spans {",
			New:    "for _, p := range s.spans[:0] {",
		},
		{
			Name: "worm/chain/a-capture-beyond-the-reply", Kind: Unsound, In: "internal/worm/chain", Packages: chain,
			Breaks: "What a reply does not cover is captured all the same.",
			Old:    "\t\tend = hi\n",
			New:    "\t\tend = q.Range.Hi\n",
		},
		{
			Name: "worm/chain/a-lower-promise-replaces-a-higher", Kind: Unsound, In: "internal/worm/chain", Packages: chain,
			Breaks: "A capture of a range takes back what others were promised in it.",
			Old:    "if high.Less(b) {",
			New:    "if true {",
		},
	}
}

func chainClientMutants() []Mutant {
	chain, group := []string{"internal/worm/chain"}, []string{"internal/worm/group"}
	return []Mutant{
		{
			Name: "worm/chain/the-tail-alone-says-unwritten", Kind: Unsound, In: "internal/worm/chain", Packages: group, Run: "OldTail",
			Breaks: "An old tail that nobody sealed says that a register is unwritten which the next epoch has decided.",
			Old:    "if m.gap.Hi == 0 || m.n == 1 {",
			New:    "if true {",
		},
		{
			Name: "worm/chain/servers-are-written-in-parallel", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "A client does not wait for the server before.",
			Old:    "func (m *write) Start(out *wor.Outbox) { m.send(0, m.first, out) }",
			New:    "func (m *write) Start(out *wor.Outbox) {\n\tfor to := range m.n {\n\t\tm.send(to, m.first, out)\n\t}\n}",
		},
		{
			Name: "worm/chain/the-loser-does-not-repair", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "The value at the head is said to be decided before it is at the tail.",
			Old:    "m.found(run.Count, 1, run.Value, run.Accepted, run)",
			New:    "m.settled(run)",
		},
		{
			Name: "worm/chain/a-reader-skips-servers", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "A reader brings a value to the tail and leaves out servers before it.",
			Old:    "m.shown(count, server+1, run)",
			New:    "m.shown(count, max(server+1, m.n-1), run)",
		},
		{
			Name: "worm/chain/trimmed-is-said-too-early", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "A segment is said to be trimmed that the tail still shows.",
			Old:    "m.trimming, m.trimTo = true, from+1",
			New:    "m.trimming, m.trimTo = true, m.n",
		},
		{
			Name: "worm/chain/replies-of-earlier-rounds-count", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "A reply to an earlier request of the machine is taken for the answer to the one that is open.",
			Old:    "if o.request == nil || step < o.since || step > m.step {",
			New:    "if o.request == nil {",
		},
		{
			Name: "worm/chain/a-part-counts-as-all", Kind: Unsound, In: "internal/worm/chain", Packages: chain, Run: "Crowd",
			Breaks: "A server that has done a part of a range is taken to have done it all.",
			Old:    "case q.Range.Lo+taken < p.hi:",
			New:    "case false:",
		},
	}
}

func epochMutants() []Mutant {
	group := []string{"internal/worm/group"}
	const sealed = "if status == wor.StatusSealed && g.witnesses(q) {"
	return []Mutant{
		{
			Name: "worm/group/a-sealed-server-accepts", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A value is decided in an epoch that is over.",
			Old:    sealed,
			New:    "if status == wor.StatusSealed && (g.witnesses(q) || q.Kind == wor.KindWrite) {",
		},
		{
			Name: "worm/group/a-sealed-server-says-unwritten", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A register is read as unwritten that the next epoch has decided.",
			Old:    sealed,
			New:    "if status == wor.StatusSealed && (g.witnesses(q) || q.Kind == wor.KindRead) {",
		},
		{
			Name: "worm/group/the-witness-register-is-sealed", Kind: Stuck, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "The members of partition 0 cannot decide on their successors.",
			Old:    sealed,
			New:    "if false {",
		},
		{
			Name: "worm/group/epochs-are-not-compared", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A request of one epoch is done in another.",
			Old:    "func (g *Group) standing(e wor.Epoch) wor.Status {\n",
			New:    "func (g *Group) standing(e wor.Epoch) wor.Status {\n\te = g.known.Epoch\n",
		},
		{
			Name: "worm/group/a-mute-server-answers", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A member of the next epoch answers without its stage.",
			Old:    "case g.held == nil || g.held.number != e:",
			New:    "case g.held == nil:",
		},
		{
			Name: "worm/group/protocols-are-mixed", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "The registers of a segment are kept by two protocols.",
			Old:    "pinned && p != q.Protocol {",
			New:    "pinned && false {",
		},
		{
			Name: "worm/group/memory-has-no-bound", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "A server takes values until it has no memory left.",
			Old:    "if changes && !g.room(q) {",
			New:    "if false {",
		},
		{
			Name: "worm/group/the-witness-register-is-any", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "A configuration register of an epoch that is over reads as unwritten.",
			Old:    "if q.Range.Segment == wor.ConfigSegment(0) && !g.witnesses(q) {",
			New:    "if false {",
		},
		{
			Name: "worm/group/a-round-has-no-next", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "A register is captured at a ballot above which there is none.",
			Old:    "case q.Ballot.Round > RoundMax:",
			New:    "case false:",
		},
		{
			Name: "worm/group/a-checkpoint-forgets-the-seal", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "A sealed server that starts again is not sealed.",
			Old:    "\t\tif e.sealed {\n",
			New:    "\t\tif false {\n",
		},
		{
			Name: "worm/group/a-checkpoint-forgets-chains", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "Save leaves out what one of the servers has.",
			Old:    "for _, p := range []wor.Protocol{wor.Paxos, wor.Chain} {",
			New:    "for _, p := range []wor.Protocol{wor.Paxos} {",
		},
		{
			Name: "worm/group/records-of-an-old-epoch-are-redone", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "A restart brings what was promised and sealed in an epoch into the next one.",
			Old:    "if g.held == nil || e < g.held.number {",
			New:    "if g.held == nil {",
		},
	}
}

func successionMutants() []Mutant {
	group := []string{"internal/worm/group"}
	return []Mutant{
		{
			Name: "worm/group/any-stage-is-activated", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "Members begin an epoch with the states of different reconfigurations.",
			Old:    "return s.epoch == c.Epoch && s.tag == c.Tag && s.sum() == c.Digest",
			New:    "return s.epoch == c.Epoch",
		},
		{
			Name: "worm/group/half-a-stage-is-activated", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "A member begins an epoch with a part of the state.",
			Old:    "s.complete && s.decided(&g.known)",
			New:    "s.tag == g.known.Tag",
		},
		{
			Name: "worm/group/the-seal-is-not-logged", Kind: Lost, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A server that is started again takes writes in an epoch that is over.",
			Old:    "\t\tlog.Append(g.scratch)\n\t\tg.held.sealed = true\n",
			New:    "\t\tg.held.sealed = true\n",
		},
		{
			Name: "worm/group/the-activation-is-not-logged", Kind: Lost, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A server that is started again is in the epoch before, with what was acknowledged since gone.",
			Old:    "\t\tlog.Append(g.scratch)\n\t\tg.succeed(c)\n",
			New:    "\t\tg.succeed(c)\n",
		},
		{
			Name: "worm/group/the-witness-register-travels", Kind: Stuck, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "What decided an epoch is taken for a part of its state, which changes while it is fetched.",
			Old:    "if !s.Written && !s.Trimmed || g.partition == 0 && s.Addr == witness(e.number) {",
			New:    "if !s.Written && !s.Trimmed {",
		},
		{
			Name: "worm/group/the-state-of-an-open-epoch-is-fetched", Kind: Unsound, In: "internal/worm/group", Packages: group,
			Breaks: "A state is handed over that still changes.",
			Old:    "\tif !e.sealed {\n",
			New:    "\tif false {\n",
		},
		{
			Name: "worm/group/the-digest-of-a-stage-is-not-compared", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "A stage that is not what was sent is taken for complete.",
			Old:    "h.Sum64() != q.Digest {",
			New:    "false {",
		},
		{
			Name: "worm/group/pieces-in-any-order", Kind: Unguarded, In: "internal/worm/group", Packages: group,
			Breaks: "A stage is taken whose states contradict each other.",
			Old:    "if c.begun && k.compare(c.last) <= 0 {",
			New:    "if false {",
		},
		{
			Name: "worm/group/a-stage-is-not-logged", Kind: Lost, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A stage that was acknowledged is gone after a restart.",
			Old:    "\tg.scratch = appendStage(g.scratch[:0], s, last, q.Value)\n\tlog.Append(g.scratch)\n",
			New:    "",
		},
		{
			Name: "worm/group/a-complete-stage-makes-way", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "The state of a configuration that is being decided is given up.",
			Old:    "return t != s && !t.complete",
			New:    "return t != s",
		},
	}
}

func mergeMutants() []Mutant {
	group := []string{"internal/worm/group"}
	return []Mutant{
		{
			Name: "worm/group/one-sealed-server-is-enough", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "What the others decide is not seen.",
			Old:    "func Seals(n int) int { return wor.Majority(n) }",
			New:    "func Seals(int) int { return 1 }",
		},
		{
			Name: "worm/group/any-ballot-is-adopted", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A value at a lower ballot than the one that was decided goes on.",
			Old:    "\t\tif high.Less(states[i].Accepted) {\n",
			New:    "\t\tif i == 0 {\n",
		},
		{
			Name: "worm/group/a-fast-decision-is-not-adopted", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A value that a fast quorum has is not seen where some of it are not sealed.",
			Old:    "most >= wor.FastQuorum(members)+sealed-members, false",
			New:    "most >= wor.FastQuorum(members), false",
		},
		{
			Name: "worm/group/a-tombstone-does-not-go-on", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "A segment that was trimmed comes back.",
			Old:    "x.Trimmed = true\n",
			New:    "x.Trimmed = false\n",
		},
		{
			Name: "worm/group/a-value-does-not-go-on-at-ballot-zero", Kind: Stuck, In: "internal/worm/group", Packages: group, Run: "Hostile",
			Breaks: "What is staged has ballots of the epoch before.",
			Old:    "x := State{State: wor.State{Addr: k.addr}}",
			New:    "x := State{State: wor.State{Addr: k.addr, Accepted: wor.Ballot{Round: 1, Nonce: 1}}}",
		},
		{
			Name: "worm/group/a-half-fetched-state-is-merged", Kind: Lost, In: "internal/worm/group", Packages: group,
			Breaks: "The end of a sealed state is missing, and nobody notices.",
			Old:    "if r.Cursor == 0 && s.hash.Sum64() != r.Digest {",
			New:    "if false {",
		},
		{
			Name: "worm/group/a-majority-is-enough-for-chains", Kind: Unsound, In: "internal/worm/group", Packages: group,
			Breaks: "A value of a chain goes on with fewer copies than it had.",
			Old:    "\tif m.chains {\n",
			New:    "\tif false {\n",
		},
	}
}
