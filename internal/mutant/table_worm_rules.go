// SPDX-License-Identifier: Apache-2.0

package mutant

// wormRuleMutants break the rules of docs/decisions/worm.md, one by one, in the
// code that enforces them. A simulation of whole clusters, not the package's own
// test, must kill them within the seeds that it runs: 600 of TestRegisters, 300
// of TestLog.
func wormRuleMutants() []Mutant {
	in := []string{"internal/evidence/worm/simulation"}
	const registers, logs = "TestRegisters", "TestLog"
	return []Mutant{
		{
			Name: "worm/rules/a-token-is-free", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "Who writes with a token does not keep to what its capture saw (rule a).",
			Old:    "; !free {\n\t\t\tt.value = adopted", New: "; !free && adopted == nil {\n\t\t\tt.value = adopted",
		},
		{
			Name: "worm/rules/a-proposers-adopt-nothing", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "A proposer writes its own value where its capture saw another (rule a).",
			Old:    "p.write(run.Value, false)", New: "p.write(p.value, true)",
		},
		{
			Name: "worm/rules/b-promises-are-not-durable", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: registers,
			Breaks: "A promise is not written down before it is told (rule b).",
			Old:    "	a.record = promiseRecord(a.record[:0], q.Range.Segment, lo, end, q.Ballot)\n	log.Append(a.record)\n", New: "",
		},
		{
			Name: "worm/rules/b-replies-do-not-wait", Kind: Lost, In: "internal/worm/node", Packages: in, Run: registers,
			Breaks: "Replies leave before what they say is on the disk (rule b).",
			Old:    "case k.appended <= k.committed:", New: "case k.appended >= k.committed:",
		},
		{
			Name: "worm/rules/c-conflicts-are-overwritten", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: registers,
			Breaks: "Another value at the same ballot takes the place of the first (rule c).",
			Old:    "v != nil && at == b {\n			run.Written", New: "v != nil && at == b && bytes.Equal(v, value) {\n			run.Written",
		},
		{
			Name: "worm/rules/d-quorums-over-ballots", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: registers,
			Breaks: "A read counts together who holds a value at a lower ballot and who at the highest (rule d).",
			Old:    "x.yes, x.no = 1<<from, 0 // what was refused was of a lower ballot", New: "x.yes |= 1 << from",
		},
		{
			Name: "worm/rules/d-quorums-over-epochs", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "A write with a token goes on in the next epoch as if it had been captured there (rule d).",
			Old:    "	if c.pinned && c.epoch != c.cfg.Epoch {", New: "	if c.pinned && c.epoch > c.cfg.Epoch {",
		},
		{
			Name: "worm/rules/e-tombstones-are-not-durable", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: registers,
			Breaks: "Registers are deleted and no tombstone is written down (rule e).",
			Old:    "	log.Append(a.record)\n	a.bury(stretch{s, s})\n", New: "	a.bury(stretch{s, s})\n",
		},
		{
			Name: "worm/rules/f-sequencers-do-not-fence", Kind: Unsound, In: "worm/log", Packages: in, Run: logs,
			Breaks: "A sequencer hands out addresses before those of the one before it are void (rule f).",
			Old:    "r.fence(int64(c.index)-1, 0, ready)", New: "ready()",
		},
		{
			Name: "worm/rules/g-the-deposed-know-the-tail", Kind: WrongAnswer, In: "worm/log", Packages: in, Run: logs,
			Breaks: "Who asks for the tail does not look whether the sequencer was deposed (rule g).",
			Old:    "t.last = errors.Is(err, wor.ErrUnallocated)", New: "t.last = err != nil || true",
		},
		{
			Name: "worm/rules/h-the-sealed-answer-reads", Kind: Unsound, In: "internal/worm/group", Packages: in, Run: registers,
			Breaks: "A sealed server still says what it holds (rule h).",
			Old:    "status == wor.StatusSealed && g.witnesses(q)", New: "status == wor.StatusSealed && (g.witnesses(q) || q.Kind == wor.KindRead)",
		},
		{
			Name: "worm/rules/i-losers-activate", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "Of two reconfigurers the one that has lost begins its own configuration (rule i).",
			Old:    "		c.s.adopt(cfg)\n		c.settle(cfg)\n", New: "		c.activate(c.next)\n",
		},
		{
			Name: "worm/rules/i-one-sealed-is-enough", Kind: Unsound, In: "internal/worm/group", Packages: in, Run: registers,
			Breaks: "A configuration is decided when one server is sealed.",
			Old:    "func Seals(n int) int { return wor.Majority(n) }", New: "func Seals(n int) int { return 1 }",
		},
		{
			Name: "worm/rules/j-nonces-come-back", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "A client that starts again uses the ballots of its life before (rule j).",
			Old:    "s.nonce = s.random.Uint64()", New: "s.nonce = o.Genesis.Cluster",
		},
		{
			Name: "worm/rules/k-a-name-is-an-identity", Kind: Unguarded, In: "internal/worm/node", Packages: in, Run: registers,
			Breaks: "A server is who its name says, so that one with an empty disk answers for the one that was lost (rule k).",
			Old:    "key := NewKey(world.Random.Split(\"identity\"))",
			New:    "seed := uint64(0)\n\tfor _, c := range []byte(name) {\n\t\tseed = seed*31 + uint64(c)\n\t}\n\tkey := NewKey(env.Seeded(seed))",
		},
		{
			Name: "worm/rules/k-old-disks-are-not-found-out", Kind: Lost, In: "internal/worm/node", Packages: in, Run: registers,
			Breaks: "A server whose disk was put back believes itself the newest (rule k).",
			Old:    "case !w.lives.past(v.seen):", New: "case false:",
		},
		{
			Name: "worm/rules/k-lone-lives-hide-the-lost-one", Kind: Lost, In: "internal/worm/node", Packages: in, Run: registers,
			Breaks: "A server whose disk was put back passes when it has started alone meanwhile (rule k).",
			Old:    "return found && l[i].life", New: "return seen.generation < l[max(len(l)-2, 0)].generation || found && l[i].life",
		},
		{
			Name: "worm/rules/l-time-makes-sure", Kind: Unsound, In: "internal/worm/node", Packages: in, Run: registers,
			Breaks: "Who has waited long enough for its peers answers without them (rule l).",
			Old:    "		w.pause = min(2*w.pause, s.opt.TellEvery, s.retryMax())\n",
			New:    "		if w.pause = min(2*w.pause, s.opt.TellEvery); w.pause == s.opt.TellEvery {\n			for _, p := range s.registers.all() {\n				p.mute = false\n			}\n		}\n",
		},
		{
			Name: "worm/rules/m-homes-move", Kind: Lost, In: "internal/worm/space", Packages: in, Run: registers,
			Breaks: "Where the metadata of a segment are depends on something that changes (rule m).",
			Old:    "place{partition: s.genesis.Home(seg)}", New: "place{partition: s.genesis.Home(seg + wor.Segment(s.views[0].cfg.Epoch))}",
		},
	}
}
