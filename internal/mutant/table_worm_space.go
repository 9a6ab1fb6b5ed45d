// SPDX-License-Identifier: Apache-2.0

package mutant

// wormSpaceMutants are about the address space over servers: tokens, segments,
// reads, subscriptions, cached values, epochs and their change.
func wormSpaceMutants() []Mutant {
	return append(append(spaceClientMutants(), spaceSegmentMutants()...), spaceEpochMutants()...)
}

func spaceClientMutants() []Mutant {
	in := []string{"internal/worm/space"}
	return []Mutant{
		{
			Name: "worm/space/adopted-value-is-ignored", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "A proposer writes its own value where phase 1 saw one (rule a).",
			Old:    "	case run.Written:\n		p.write(run.Value, false)\n",
			New:    "	case run.Written:\n		p.write(p.value, true)\n",
		},
		{
			Name: "worm/space/token-adopts-nothing", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "A write with a token ignores what must be adopted (rule a).",
			Old:    "adopted, free := w.token.Find(w.a.Offset); !free {",
			New:    "adopted, free := w.token.Find(w.a.Offset); !free && w.value == nil {",
		},
		{
			Name: "worm/space/range-adopts-nothing", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "A write of a range ignores what must be adopted (rule a).",
			Old:    "if p.writing = w.value; !free {",
			New:    "if p.writing = w.value; !free && adopted == nil {",
		},
		{
			Name: "worm/space/capture-hides-what-it-saw", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "A token does not carry the values that phase 1 saw (rule a).",
			Old:    "token.Adopted = append(token.Adopted, wor.Adopted{Offset: offset + n, Value: run.Value})",
			New:    "_ = n",
		},
		{
			Name: "worm/space/token-is-used-twice", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "OneAfter|Used",
			Breaks: "Two values are written at one ballot (rule c).",
			Old:    "if *at != 0 && *at != h {",
			New:    "if *at != 0 && *at != h && u.max < 0 {",
		},
		{
			Name: "worm/space/forgotten-use-is-no-use", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Used",
			Breaks: "When the table overflows, an old token may be used again with another value.",
			Old:    "u.floors[nonce] = max(u.floors[nonce], token.ballot.Round)",
			New:    "u.floors[nonce] = 0",
		},
		{
			Name: "worm/space/a-long-token-ends", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "OneToken",
			Breaks: "A client that writes more than 2^20 registers with one token is refused its own token.",
			Old:    "u.runs <= u.max {", New: "u.runs < 1 {",
		},
		{
			Name: "worm/space/a-forgotten-group-is-free", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "OneToken|Used",
			Breaks: "A token may be used again where it has forgotten what it wrote.",
			Old:    "|| u.gone[k.usedToken].has(k.group)", New: "",
		},
		{
			Name: "worm/space/outbid-write-failed", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "A write that was outbid is said not to have happened, though it may take effect.",
			Old:    "	return &wor.UnknownError{Addr: a, Cause: err}\n",
			New:    "	return err\n",
		},
		{
			Name: "worm/space/propose-answers-too-early", Kind: Lost, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "What must be adopted is answered as decided before it is.",
			Old:    "	case run.Written:\n		p.write(run.Value, false)\n",
			New:    "	case run.Written:\n		p.over(run.Value, nil)\n",
		},
		{
			Name: "worm/space/ballot-is-used-again", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "All captures of a client have one ballot unless they were outbid (rule j).",
			Old:    "	s.round++\n	return wor.Ballot{Round: s.round, Nonce: s.nonce}",
			New:    "	s.round = max(s.round, 1)\n	return wor.Ballot{Round: s.round, Nonce: s.nonce}",
		},
		{
			Name: "worm/space/outbid-read-is-unwritten", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "A reader that finds a value halfway and is outbid at the repair calls the register unwritten.",
			Old:    "	case run.Status != wor.StatusOK:\n		r.outbid(run.Promised)\n",
			New:    "	case run.Status != wor.StatusOK:\n		r.owner.read(r, nil, wor.ErrUnwritten)\n",
		},
		{
			Name: "worm/space/halfway-is-unwritten-in-a-range", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "A read of a range leaves out what was outbid.",
			Old:    "				out = append(out, outbid{a, run.Promised})\n",
			New:    "",
		},
		{
			Name: "worm/space/unwritten-is-kept", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "That a register is unwritten is remembered as if it were decided.",
			Old:    "	if err == nil {\n		o.s.known.add(o.a, value)\n	}\n	o.answer(value, err)",
			New:    "	if err == nil || errors.Is(err, wor.ErrUnwritten) {\n		o.s.known.add(o.a, value)\n	}\n	o.answer(value, err)",
		},
		{
			Name: "worm/space/written-value-is-not-the-adopted-one", Kind: WrongAnswer, In: "internal/worm/space", Packages: in, Run: "Linearizable|OneAfter",
			Breaks: "A write that wrote what it had to adopt says that it wrote its own value.",
			Old:    "		w.answer(other(w.a, w.writing, w.value))\n",
			New:    "		w.answer(nil)\n",
		},
		{
			Name: "worm/space/deadline-of-a-write-is-a-failure", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|Minority",
			Breaks: "A write whose time is over is said not to have happened.",
			Old:    "func (w *write) fail(err error) { w.answer(unknown(w.a, w.sent, err)) }",
			New:    "func (w *write) fail(err error) { w.answer(unknown(w.a, false, err)) }",
		},
		{
			Name: "worm/space/nothing-is-sent-again", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "Linearizable",
			Breaks: "What was lost stays lost.",
			Old:    "	d := c.s.resend(&c.s.views[c.partition].latencies, c.tries)\n",
			New:    "	d := c.s.resend(&c.s.views[c.partition].latencies, c.tries) << 40\n",
		},
		{
			Name: "worm/space/ballots-count-together", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Listen",
			Breaks: "A listener counts acceptances at different ballots as one (rule d).",
			Old:    "return x.ballot == b && string(x.value) == string(value)",
			New:    "return string(x.value) == string(value)",
		},
		{
			Name: "worm/space/one-server-is-a-decision", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Listen",
			Breaks: "A listener takes the first note for a decision.",
			Old:    "	return wor.Majority(l.size)\n",
			New:    "	return 1\n",
		},
		{
			Name: "worm/space/majority-is-a-fast-decision", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Listen",
			Breaks: "A listener takes a majority at ballot zero for a decision of protocol Fast.",
			Old:    "		return wor.FastQuorum(l.size)\n",
			New:    "		return wor.Majority(l.size)\n",
		},
		{
			Name: "worm/space/listener-believes-notes-alone", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "Listen",
			Breaks: "A listener never reads what it was not told.",
			Old:    "	case l.full || len(l.doubt) == 0:\n",
			New:    "	case l.s == nil:\n",
		},
	}
}

func spaceSegmentMutants() []Mutant {
	in := []string{"internal/worm/space"}
	return []Mutant{
		{
			Name: "worm/space/tombstone-is-answered-unfinished", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|Tombstones|OneAfter|Relocate",
			Breaks: "Who meets a tombstone answers trimmed at once; nobody sees that a trim ends, or that the segment has moved (rule e).",
			Old:    "	t.owner = owner\n	t.s.join(errandKey{trimErrand, t.seg}",
			New:    "	t.owner = owner\n	if t.live {\n		owner.fail(wor.ErrTrimmed)\n		return\n	}\n	t.s.join(errandKey{trimErrand, t.seg}",
		},
		{
			Name: "worm/space/trim-is-answered-when-decided", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Linearizable|Tombstones|OneAfter",
			Breaks: "A trim is answered before there are tombstones (rule e).",
			Old:    "		t.fail(err)\n		return\n	}\n	t.bury()\n",
			New:    "		t.fail(err)\n		return\n	}\n	t.fail(nil)\n",
		},
		{
			Name: "worm/space/home-is-trimmed-first", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Tombstones|OneAfter|Relocate",
			Breaks: "The metadata are gone before the data: nobody finds where tombstones are to be put.",
			Old:    "	for at.with(home) && len(e.places) > 0 {",
			New:    "	for at.with(home) && len(e.places) > 9 {",
		},
		{
			Name: "worm/space/trim-misses-older-places", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Relocat",
			Breaks: "A segment that has moved stays readable where it was.",
			Old:    "		e.places = append(e.places[:0], known.value.before...)\n",
			New:    "		e.places = e.places[:0]\n",
		},
		{
			Name: "worm/space/trim-lets-the-segment-move", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Relocat",
			Breaks: "A segment moves away while it is trimmed.",
			Old:    "	case known.value.ended || known.value.moves() == PlacementsMax:\n",
			New:    "	case known.value.size > 0:\n",
		},
		{
			Name: "worm/space/tokens-move-along", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Relocate",
			Breaks: "A token of the old place writes over the value at the new one.",
			Old:    "	if w.at.moves() > 0 {\n		// All registers",
			New:    "	if w.at.moves() > 99 {\n		// All registers",
		},
		{
			Name: "worm/space/open-segment-moves", Kind: Lost, In: "internal/worm/space", Packages: in, Run: "Relocate",
			Breaks: "Registers that are not decided are left behind.",
			Old:    "		if cell.Err != nil {\n			r.fail(",
			New:    "		if cell.Err != nil && r.verify {\n			r.fail(",
		},
		{
			Name: "worm/space/stat-believes-itself", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Tombstones|OneAfter",
			Breaks: "A segment that was trimmed by another is still there.",
			Old:    "	case errors.Is(err, errTombstone):\n		t.findAnew(t)\n		return\n",
			New:    "	case errors.Is(err, errTombstone):\n		err = nil\n",
		},
		{
			Name: "worm/space/alloc-is-always-mine", Kind: WrongAnswer, In: "internal/worm/space", Packages: in, Run: "OneAfter",
			Breaks: "Two allocate one segment.",
			Old:    "	if err == nil && string(value) != string(p.value) {\n",
			New:    "	if err == nil && len(value) == 0 {\n",
		},
		{
			Name: "worm/space/protocol-of-the-metadata-is-ignored", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "DataGo",
			Breaks: "The data registers go to the home partition, whatever the metadata say (rule m).",
			Old:    "v := segment{place: place{partition: m.Partition, protocol: m.Protocol}, size: m.Size}",
			New:    "v := segment{place: place{partition: s.genesis.Home(seg), protocol: m.Protocol}, size: m.Size}",
		},
		{
			Name: "worm/space/beyond-the-end", Kind: Unguarded, In: "internal/worm/space", Packages: in, Run: "OneAfter|Limits",
			Breaks: "Registers are written that the segment has not.",
			Old:    "	if r.Hi > s.size {\n",
			New:    "	if r.Hi > wor.SegmentMax {\n",
		},
	}
}

func spaceEpochMutants() []Mutant {
	in := []string{"internal/worm/space"}
	return []Mutant{
		{
			Name: "worm/space/old-tokens-serve", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure",
			Breaks: "A token of an epoch that is over is used in the next one, where others have captured since.",
			Old:    "t.ballot, t.pinned, t.epoch = w.token.Ballot, true, w.token.Epoch",
			New:    "t.ballot, t.pinned, t.epoch = w.token.Ballot, false, w.token.Epoch",
		},
		{
			Name: "worm/space/capture-serves-in-the-next-epoch", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure|CapturesEnd",
			Breaks: "A proposer writes in an epoch in which it has captured nothing.",
			Old:    "	t.pinned, t.epoch = true, p.call.cfg.Epoch\n",
			New:    "",
		},
		{
			Name: "worm/space/one-server-is-sealed", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure|Half",
			Breaks: "The state goes on while a majority still decides in the old epoch.",
			Old:    "	need := group.Seals(n)\n",
			New:    "	need := 1\n",
		},
		{
			Name: "worm/space/loser-activates", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure|Half|OneWinner",
			Breaks: "Who lost the decision activates its own configuration (rule i).",
			Old:    "		if err := cfg.UnmarshalBinary(value); err != nil {\n			c.fail(err)\n			return\n		}\n",
			New:    "		_ = value\n		*cfg = *c.next\n",
		},
		{
			Name: "worm/space/nothing-is-decided", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure|Half",
			Breaks: "A configuration is activated that no register decided (rule i).",
			Old:    "	if c.unsafe && c.next.Partition == 0 {\n		cfg := *c.next",
			New:    "	if c.next.Tag != 0 {\n		cfg := *c.next",
		},
		{
			Name: "worm/space/decided-before-staged", Kind: Lost, In: "internal/worm/space", Packages: in, Run: "Reconfigure|Half",
			Breaks: "The configuration is decided when one server has the state.",
			Old:    "	case left < c.merger.Stages(len(c.targets)):\n",
			New:    "	case c.last && have > 0:\n		c.decide()\n	case left < c.merger.Stages(len(c.targets)):\n",
		},
		{
			Name: "worm/space/epochs-are-guessed", Kind: Unsound, In: "internal/worm/space", Packages: in, Run: "Reconfigure|Half",
			Breaks: "What the register of the next configuration holds is not compared with what was asked.",
			Old:    "func configAddr(p wor.Partition, e wor.Epoch) wor.Addr {\n	return wor.Addr{Segment: wor.ConfigSegment(p), Offset: uint32(e)}",
			New:    "func configAddr(p wor.Partition, e wor.Epoch) wor.Addr {\n	return wor.Addr{Segment: wor.ConfigSegment(p), Offset: uint32(e) + 1}",
		},
		{
			Name: "worm/space/nobody-ends-what-was-begun", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "Half",
			Breaks: "A partition stays sealed when the one who sealed it has died.",
			Old:    "		s.rescue(v)\n",
			New:    "",
		},
		{
			Name: "worm/space/nobody-is-told-of-the-epoch", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "Half",
			Breaks: "Members do not hear of what was decided when the one who decided it has died.",
			Old:    "	s.transport.Call(cfg.Members[to], activation(cfg), callMin, func(*wor.Reply) {})\n}",
			New:    "}",
		},
		{
			Name: "worm/space/listeners-stay-behind", Kind: Stuck, In: "internal/worm/space", Packages: in, Run: "Listen",
			Breaks: "A listener is not registered in the new epoch, and counts notes of servers as if they were the old ones'.",
			Old:    "		l.moved(cfg.Partition)\n",
			New:    "		_ = l\n",
		},
		{
			Name: "worm/space/replace-does-not-look", Kind: Unguarded, In: "internal/worm/space", Packages: in, Run: "Replace",
			Breaks: "A server is replaced although another one is away.",
			Old:    "	case len(r.doubts) > 0:\n",
			New:    "	case len(r.doubts) > 99:\n",
		},
		{
			Name: "worm/space/recovery-is-not-marked", Kind: Unguarded, In: "internal/worm/space", Packages: in, Run: "Recover",
			Breaks: "What may have lost decided values looks as sound as ever.",
			Old:    "c.old.Tainted || c.unsafe",
			New:    "c.old.Tainted",
		},
		{
			Name: "worm/space/recovery-of-the-healthy", Kind: Unguarded, In: "internal/worm/space", Packages: in, Run: "Recover",
			Breaks: "A partition that works is recovered unsafely.",
			Old:    "		case bits.OnesCount16(there) >= group.Seals(n):\n",
			New:    "		case bits.OnesCount16(there) > n:\n",
		},
	}
}
