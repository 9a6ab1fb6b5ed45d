// SPDX-License-Identifier: Apache-2.0

package mutant

// wormTxMutants are about atomic commit, the key-value store on it, the checker of
// its histories, and its Redis front.
func wormTxMutants() []Mutant {
	tx, history, resp := []string{"worm/tx"}, []string{"internal/evidence/worm/history"}, []string{"worm/resp"}
	const (
		commit = "TestAtomicCommit|TestDelays"
		chaos  = "TestChaos"
	)
	return append(wormSlowMutants(), []Mutant{
		{
			Name: "worm/tx/no-is-written-without-a-capture", Kind: Stuck, In: "worm/tx", Packages: tx, Run: commit,
			Breaks: "The NO for an RM that does not vote is written unsafely.",
			Old:    "\te.opt.Space.Propose(x.tx.Slots[slot].Addr, no.encode(), 0,", New: "\te.opt.Space.WriteUnsafe(x.tx.Slots[slot].Addr, no.encode(), 0,",
		},
		{
			Name: "worm/tx/no-counts-before-it-is-decided", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: commit,
			Breaks: "Who waits too long for a vote takes it for NO without asking the register.",
			Old:    "\t\t\te.learn(x, slot, no)\n\t\t\treturn\n\t\t}\n\t\te.settled(x, slot, nil, err)\n",
			New:    "\t\t\te.learn(x, slot, no)\n\t\t\treturn\n\t\t}\n\t\te.learn(x, slot, no)\n",
		},
		{
			Name: "worm/tx/one-vote-may-be-missing", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: commit,
			Breaks: "A transaction is committed when all votes but one are known.",
			Old:    "case x.left == 0:", New: "case x.left <= 1:",
		},
		{
			Name: "worm/tx/a-vote-that-failed-counts", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: commit,
			Breaks: "An RM takes its own vote for decided though somebody has captured its register.",
			Old:    "\t\te.voteAgain(c, x, slot, v, err)\n\t}\n\tif !e.policy.ahead {", New: "\t\te.learn(x, slot, v)\n\t}\n\tif !e.policy.ahead {",
		},
		{
			Name: "worm/tx/an-rm-votes-twice", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: commit,
			Breaks: "A message that comes twice makes an RM vote twice.",
			Old:    "\ts.taken[offset/64] |= 1 << (offset % 64)\n", New: "",
		},
		{
			Name: "worm/tx/locks-do-not-lock", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: chaos,
			Breaks: "Keys are free between vote and outcome.",
			Old:    "at(k).writer = true", New: "at(k).writer = false",
		},
		{
			Name: "worm/tx/reads-do-not-lock", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: chaos,
			Breaks: "What a transaction has read may be written before its outcome.",
			Old:    "if x := l.byKey[k]; x != nil && (x.writer || x.readers > 0) {", New: "if x := l.byKey[k]; x != nil && x.writer {",
		},
		{
			Name: "worm/tx/redo-is-forgotten", Kind: Lost, In: "worm/tx", Packages: tx, Run: "TestSpaceIsBounded|TestOneServer",
			Breaks: "A takeover does not do again what was committed since the snapshot.",
			Old:    "s.state.apply(&x, v.Order, allHeld(r.Briefs[i]), v.Brief)", New: "_ = r.Briefs[i]",
		},
		{
			Name: "worm/tx/a-takeover-leaves-registers-undecided", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestDeposedOwner|" + chaos,
			Breaks: "A takeover only reads: the old owner can still vote.",
			Old:    "\t\t\tif c.Err == nil {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tj := i", New: "\t\t\tif c.Err == nil || e != nil {\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tj := i",
		},
		{
			Name: "worm/tx/an-old-segment-stays-open", Kind: Lost, In: "worm/tx", Packages: tx, Run: "TestOldSegment|" + chaos,
			Breaks: "Votes go to an old segment after others went to the new one: what is done again is not in order.",
			Old:    "\ts.closed = true\n\tc.old = append(c.old, s)", New: "\tc.e.after(c.e.opt.ResolveAfter, func() { s.closed = true })\n\tc.old = append(c.old, s)",
		},
		{
			Name: "worm/tx/a-snapshot-claims-too-much", Kind: Lost, In: "worm/tx", Packages: tx, Run: chaos + "|TestSpaceIsBounded",
			Breaks: "The base is past the segment that is being voted in.",
			Old:    "base: k.engine.Cut(rm)}", New: "base: k.engine.Cut(rm) + 1}",
		},
		{
			Name: "worm/tx/nobody-waits-for-the-others", Kind: Lost, In: "worm/tx", Packages: tx, Run: chaos,
			Breaks: "Votes are trimmed that another RM still needs to know an outcome.",
			Old:    "\tif blocked {", New: "\tif blocked && e == nil {",
		},
		{
			Name: "worm/tx/versions-are-not-compared", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestVersions",
			Breaks: "A condition on a version always holds.",
			Old:    "return s.version(c.Key) == c.Version", New: "return true",
		},
		{
			Name: "worm/tx/removals-have-no-version", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestVersions",
			Breaks: "A key that was there and is gone looks as if it had never been.",
			Old:    "\ts.deleted = max(s.deleted, order)\n", New: "",
		},
		{
			Name: "worm/tx/an-owner-trusts-itself", Kind: WrongAnswer, In: "worm/tx", Packages: tx, Run: "TestDeposedOwner",
			Breaks: "A read is answered without a look at the next segment.",
			Old:    "\tif !confirm {", New: "\tif !confirm || s.open {",
		},
		{
			Name: "worm/tx/the-second-round-is-not-compared", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: chaos,
			Breaks: "A read of several partitions mixes states.",
			Old:    "\t\t\tfor i := range first {", New: "\t\t\tfor i := range first[:0] {",
		},
		{
			Name: "worm/tx/done-twice", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestOnceOnly",
			Breaks: "A request that comes again is done again.",
			Old:    "\t\t\treturn reasonDuplicate\n", New: "\t\t\treturn \"\"\n",
		},
		{
			Name: "worm/tx/old-requests-are-new", Kind: NotAtomic, In: "worm/tx", Packages: tx, Run: "TestOnceOnly",
			Breaks: "A request that its client has long acknowledged is done again.",
			Old:    "if q.Seq < x.low {", New: "if q.Seq < x.low && x == nil {",
		},
		{
			Name: "worm/tx/a-slot-counts-for-any-transaction", Kind: Unguarded, In: "worm/tx", Packages: tx, Run: "TestCount",
			Breaks: "A YES to one transaction is taken for one to another.",
			Old:    "if v.Yes && (v.ID != t.ID || !slices.Equal(v.Slots, t.Slots)) {", New: "if v.Yes && len(t.Slots) == 0 {",
		},
		{
			Name: "worm/tx/history/no-antidependencies", Kind: Unsound, In: "internal/evidence/worm/history", Packages: history,
			Breaks: "That a read has missed an append is no edge.",
			Old:    "\t\t\t\tc.edge(i, next, rw, o.Key)\n", New: "\t\t\t\t_ = next\n",
		},
		{
			Name: "worm/tx/history/no-real-time", Kind: Unsound, In: "internal/evidence/worm/history", Packages: history,
			Breaks: "The order of real time is no edge.",
			Old:    "\t\t\t\tc.edge(f, e.txn, rt, \"\")\n", New: "\t\t\t\t_ = f\n",
		},
		{
			Name: "worm/tx/history/aborted-counts", Kind: Unsound, In: "internal/evidence/worm/history", Packages: history,
			Breaks: "What an aborted transaction appended may be read.",
			Old:    "case c.txns[w].Status == Aborted:", New: "case c.txns[w].Status == Aborted && n < 0:",
		},
		{
			Name: "worm/tx/history/unseen-appends-have-no-place", Kind: Unsound, In: "internal/evidence/worm/history", Packages: history,
			Breaks: "An append that no read has seen follows nothing.",
			Old:    "\t\treturn unseen\n", New: "\t\treturn nil\n",
		},
		{
			Name: "worm/resp/replies-overtake", Kind: WrongAnswer, In: "worm/resp", Packages: resp, Run: "TestReplies|TestDialogues",
			Breaks: "Commands on one key are under way together.",
			Old:    "n < 0 || written && n > 0 {", New: "n < -1 || written && n < -1 {",
		},
		{
			Name: "worm/resp/watches-are-dropped", Kind: NotAtomic, In: "worm/resp", Packages: resp, Run: "TestDialogues",
			Breaks: "EXEC does not look at what was watched.",
			Old:    "&Txn{Watches: c.watches}", New: "&Txn{}",
		},
		{
			Name: "worm/resp/a-failed-watch-is-none", Kind: NotAtomic, In: "worm/resp", Packages: resp, Run: "TestDialogues",
			Breaks: "EXEC goes ahead after a WATCH that failed.",
			Old:    "case c.dirty || c.unwatched:", New: "case c.dirty:",
		},
		{
			Name: "worm/resp/multi-goes-on-after-an-error", Kind: NotAtomic, In: "worm/resp", Packages: resp, Run: "TestDialogues",
			Breaks: "EXEC does the commands that were right.",
			Old:    "c.dirty = c.dirty || c.multi", New: "_ = text",
		},
		{
			Name: "worm/resp/arguments-of-any-length", Kind: Unguarded, In: "worm/resp", Packages: resp, Run: "TestDialogues|FuzzConn",
			Breaks: "A client chooses how much memory an argument takes.",
			Old:    "if !ok || n < 0 || n > int64(p.lim.Bulk) {", New: "if !ok || n < 0 {",
		},
	}...)
}
