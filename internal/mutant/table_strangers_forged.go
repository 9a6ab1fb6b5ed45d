// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersForgedMutants are about false claims to ashlard: that something was
// decided, that the sender is a server, that an epoch is over.
func strangersForgedMutants() []Mutant {
	daemon, simulation, group := []string{"cmd/ashlard/daemon"}, []string{"internal/evidence/worm/simulation"}, []string{"internal/worm/group"}
	return []Mutant{
		{
			Name: "strangers/forged/whoever-says-decided-is-believed", Kind: Unguarded, In: "internal/worm/node", Packages: daemon, Run: "TestForgedDecisions",
			Breaks: "A client that says that a configuration or a trim was decided is believed.",
			Old:    "|| s.beliefs.doubt(q, r); refused {", New: "|| len(q.Value) < 0; refused {",
		},
		{
			Name: "strangers/forged/random-schedules-find-forged-epochs", Kind: Unguarded, In: "internal/worm/node", Packages: simulation, Run: "TestRegisters$", Short: true,
			Breaks: "A client that says that an epoch has begun is believed.",
			Old:    "\t\tb.seek(p, q.Epoch)\n", New: "\t\treturn false\n",
		},
		{
			Name: "strangers/forged/random-schedules-find-forged-trims", Kind: Unguarded, In: "internal/worm/node", Packages: simulation, Run: "TestRegisters$", Short: true,
			Breaks: "A client that says that a segment is trimmed is believed.",
			Old:    "\t\t\tb.investigate(k, q.Protocol)\n", New: "\t\t\treturn false\n",
		},
		{
			Name: "strangers/forged/no-is-yes", Kind: Unguarded, In: "internal/worm/node", Packages: daemon, Run: "TestForgedDecisions",
			Breaks: "A segment of which the registers say that it is not trimmed is given up.",
			Old:    "\t\t\t\t\tb.claims[k] = claimFalse\n", New: "\t\t\t\t\tb.claims[k] = claimTrue\n",
		},
		{
			Name: "strangers/forged/one-server-decides-a-trim", Kind: Unsound, In: "internal/worm/space", Packages: []string{"internal/worm/space"}, Run: "TestBuried",
			Breaks: "What one server has accepted counts as a trim that was decided.",
			Old:    "return b.trims >= wor.Majority(len(b.cfg.Members))", New: "return b.trims >= 1",
		},
		{
			Name: "strangers/forged/where-it-is-now-is-given-up", Kind: Lost, In: "internal/worm/space", Packages: []string{"internal/worm/space"}, Run: "TestBuried",
			Breaks: "A segment that has moved may be given up where it is now.",
			Old:    "\t\twas, now = was || now.with(b.at), next\n", New: "\t\twas, now = true, next\n",
		},
		{
			Name: "strangers/forged/descriptions-are-not-consent", Kind: Stuck, In: "internal/worm/node", Packages: daemon, Run: "TestRecoverConsent",
			Breaks: "A server does not begin what its operator has put into its description.",
			Old:    "\t\tb.adopt(&s.opt.Genesis.Known[i])\n", New: "\t\t_ = i\n",
		},
		{
			Name: "strangers/forged/the-first-to-go-on-is-silent", Kind: Stuck, In: "internal/worm/group", Packages: []string{"internal/worm/group", "internal/evidence/worm/simulation"}, Run: "TestDialogues|TestRegisters$",
			Breaks: "Members that have begun the next epoch do not say any more what decided it.",
			Old:    "if g.witnesses(q) && q.Epoch < g.known.Epoch {", New: "if g.witnesses(q) && q.Epoch > g.known.Epoch {",
		},
		{
			Name: "strangers/forged/promises-of-witnesses-end", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "TestDialogues",
			Breaks: "What a member has promised about the next configuration ends when it begins that.",
			Old:    "if run.Accepted.Less(run.Promised) {", New: "if run.Promised.Less(run.Accepted) {",
		},
		{
			Name: "strangers/forged/a-checkpoint-forgets-witnesses", Kind: Lost, In: "internal/worm/group", Packages: group, Run: "TestDialogues",
			Breaks: "A checkpoint lacks what members have accepted of configurations.",
			Old:    "\tif g.past != nil {\n\t\tmore := true\n", New: "\tif g.past != nil && g.partition != 0 {\n\t\tmore := true\n",
		},
		{
			Name: "strangers/forged/decided-and-open", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "TestDialogues",
			Breaks: "A server that has accepted the next configuration goes on answering for the epoch.",
			Old:    "\t\t// So when a configuration is decided a majority is sealed, whichever client wrote it.\n\t\tg.close(log)\n", New: "",
		},
		{
			Name: "strangers/forged/anything-is-a-configuration", Kind: Unguarded, In: "internal/worm/group", Packages: group, Run: "TestDialogues",
			Breaks: "The register of a configuration takes what is none.",
			Old:    "q.Range.Segment&wor.ReservedSegment != 0 && !configures(q) {", New: "q.Range.Segment&wor.ReservedSegment != 0 && len(q.Value) == 0 {",
		},
		{
			Name: "strangers/forged/stages-for-ever", Kind: Stuck, In: "internal/worm/group", Packages: group, Run: "TestStagesAreBounded",
			Breaks: "A client that fills the room for stages with undecided ones prevents changes of members permanently.",
			Old:    "return g.age-t.born > StageAges })", New: "return g.age-t.born > 1<<62 })",
		},
		{
			Name: "strangers/forged/young-stages-give-way", Kind: Lost, In: "internal/worm/group", Packages: group, Run: "TestStagesAreBounded",
			Breaks: "A stage that is about to be decided gives way to any other.",
			Old:    "return g.age-t.born > StageAges })", New: "return true })",
		},
		{
			Name: "strangers/forged/sealed-for-ever", Kind: Stuck, In: "internal/worm/node", Packages: simulation, Run: "TestSealedAlone",
			Breaks: "A server that anybody has sealed stays sealed until a client happens to wait for it.",
			Old:    "s.serial.Do(func() { b.space.Revive(p.number) })", New: "s.serial.Do(func() { b.space.Look(p.number) })",
		},
		{
			Name: "strangers/forged/any-welcome", Kind: Unguarded, In: "internal/worm/node", Packages: []string{"internal/worm/node"}, Run: "TestBadServer",
			Breaks: "A program that listens at a server's address answers in its name.",
			Old:    "\tcase !p.proven(w):\n", New: "\tcase w.Proof != nil && !p.proven(w):\n",
		},
		{
			Name: "strangers/forged/random-schedules-find-impostors", Kind: Unguarded, In: "internal/worm/node", Packages: simulation, Run: "TestRegisters$", Short: true,
			Breaks: "A program that listens at a server's address, with its own key, answers in its name.",
			Old:    "return err == nil && from == p.key.id", New: "return err == nil && from != 0",
		},
		{
			Name: "strangers/forged/witnesses-who-were-none", Kind: Unsound, In: "internal/worm/group", Packages: group, Run: "TestDialogues",
			Breaks: "A server that was no member of an epoch answers for its register as if it had accepted nothing.",
			Old:    "\t\tif r.Runs[0].Promised.IsZero() {\n\t\t\tr.Runs", New: "\t\tif r.Runs[0].Promised.IsZero() && q.Kind == wor.KindTrim {\n\t\t\tr.Runs",
		},
		{
			Name: "strangers/forged/a-closed-door-is-no-hint", Kind: WrongAnswer, In: "internal/worm/node", Packages: daemon, Run: "TestTLS$",
			Breaks: "Who asks a server with TLS without it hears of an end of a file.",
			Old:    "\t\tif p.state == greeted {\n", New: "\t\tif p.state == down {\n",
		},
		{
			Name: "strangers/forged/a-welcome-to-anybody", Kind: Unguarded, In: "internal/worm/node", Packages: []string{"internal/worm/node"}, Run: "TestBadServer",
			Breaks: "A welcome that was said to one client, said again, serves for another.",
			Old:    "\tb := bytes.Clone(c[:])\n", New: "\tb := bytes.Clone(c[:0])\n",
		},
		{
			Name: "strangers/forged/a-look-for-each-claim", Kind: Stuck, In: "internal/worm/node", Packages: []string{"internal/worm/node"}, Run: "TestAFloodOfClaims",
			Breaks: "A client that claims a new epoch again and again fills a server's memory with looks for it.",
			Old:    "if p.seeking {", New: "if p.seeking && e == 0 {",
		},
	}
}
