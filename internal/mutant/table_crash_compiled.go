// SPDX-License-Identifier: Apache-2.0

package mutant

// crashCompiledMutants are about compiled programs that survive crashes: what is on the
// disk before its effects are visible, the state with which a life begins, and the
// contents of its traces.
func crashCompiledMutants() []Mutant {
	runtime, journal := []string{"distsys"}, []string{"distsys/durable"}
	return []Mutant{
		{
			Name: "distsys/crash/visible-before-durable", Kind: Lost, In: "distsys", Packages: runtime, Run: "TestNothingIsSeenBeforeItIsDurable|TestRestart",
			Breaks: "A message leaves before what it says is on the disk: after a crash its sender does not know of it.",
			Old:    "\tcase !settled:\n",
			New:    "\tcase !settled && e.pc == starting:\n",
		},
		{
			Name: "distsys/crash/an-earlier-section-is-forgotten", Kind: Lost, In: "distsys", Packages: runtime, Run: "TestNothingIsSeenBeforeItIsDurable",
			Breaks: "A section that changes nothing durable itself does not wait for those before it.",
			Old:    "\tif keep {\n\t\tif err := e.keep(k); err != nil {\n",
			New:    "\tif !keep {\n\t\te.lag = 0\n\t}\n\tif keep {\n\t\tif err := e.keep(k); err != nil {\n",
		},
		{
			Name: "distsys/crash/recover-is-the-first-label", Kind: WrongAnswer, In: "distsys", Packages: runtime, Run: "TestRestart",
			Breaks: "After a crash an instance starts at its first label.",
			Old:    "init, at = c.Restart, c.Recover",
			New:    "init = c.Restart",
		},
		{
			Name: "distsys/crash/volatile-variables-have-no-first-value", Kind: WrongAnswer, In: "distsys", Packages: runtime, Run: "TestRestart",
			Breaks: "After a crash the variables that are not durable do not get their first values.",
			Old:    "init, at = c.Restart, c.Recover",
			New:    "init, at = nil, c.Recover",
		},
		{
			Name: "distsys/crash/the-dead-start-again", Kind: WrongAnswer, In: "distsys", Packages: runtime, Run: "TestRestart",
			Breaks: "An instance that has ended starts again in the next life.",
			Old:    "e.kept != nil && e.kept.Done {",
			New:    "e.kept != nil && e.kept.Done && e.n > 0 {",
		},
		{
			Name: "distsys/crash/close-commits-what-is-not-durable", Kind: Lost, In: "distsys", Packages: runtime, Run: "TestStopWhileTheDiskIsWaitedFor",
			Breaks: "Close makes a section take effect that waits for the disk.",
			Old:    "\tif e.phase == syncing {\n\t\te.tx.abort()\n",
			New:    "\tif e.phase == syncing {\n\t\te.tx.commit()\n",
		},
		{
			Name: "distsys/config/a-private-variable-survives", Kind: Lost, In: "distsys", Packages: runtime, Run: "TestLosses",
			Breaks: "A variable that survives a crash in the specification is a variable in memory.",
			Old:    "\t\t\tif param.Crash != Starts {\n",
			New:    "\t\t\tif param.Crash == Clears {\n",
		},
		{
			Name: "distsys/durable/no-sync", Kind: Lost, In: "distsys/durable", Packages: journal, Run: "TestCrashes",
			Breaks: "What was appended passes for durable before the disk has it.",
			Old:    "\tif l.durable >= n {\n",
			New:    "\tif l.durable >= n || len(l.waits) >= 0 {\n",
		},
		{
			Name: "distsys/durable/long-values-are-written-whole", Kind: WrongAnswer, In: "distsys/durable", Packages: journal, Run: "TestIncrements",
			Breaks: "A section that appends to a long sequence writes all of it to the disk.",
			Old:    "l.wal.Append(l.shorten(c).records())",
			New:    "l.wal.Append(c.records())",
		},
		{
			Name: "distsys/durable/a-queue-is-written-whole", Kind: WrongAnswer, In: "distsys/durable", Packages: journal, Run: "TestDeltasOfQueues",
			Breaks: "A section that takes the front off a long sequence and appends to it writes all of it to the disk.",
			Old:    "i >= 0 && prefix(a[i:], b[j:]) > n {",
			New:    "i >= 0 && prefix(a[i:], b[j:]) > len(b) {",
		},
		{
			Name: "distsys/durable/a-delta-for-another-value", Kind: Unguarded, In: "distsys/durable", Packages: journal, Run: "TestDeltas",
			Breaks: "A delta makes something of a value that it was not made for.",
			Old:    " || crc32.Checksum(is, castagnoli) != sum {",
			New:    " || sum == 0 {",
		},
		{
			Name: "distsys/durable/torn-change", Kind: Lost, In: "distsys/durable", Packages: journal, Run: "TestGroups",
			Breaks: "A change of which the disk has only the beginning becomes the beginning of the next one.",
			Old:    "\t\tg.buf, g.begun = nil, true\n",
			New:    "\t\tg.begun = true\n",
		},
		{
			Name: "distsys/durable/order-of-a-group", Kind: Lost, In: "distsys/durable", Packages: journal, Run: "TestGroups",
			Breaks: "The records of a change come back in another order.",
			Old:    "\t\tout = append(out, append([]byte{0}, piece...))\n",
			New:    "\t\tout = append(pieces{append([]byte{0}, piece...)}, out...)\n",
		},
		{
			Name: "distsys/durable/a-checkpoint-is-behind", Kind: Lost, In: "distsys/durable", Packages: journal, Run: "TestCrashes",
			Breaks: "A checkpoint has not what the sections before it have changed in the variables that instances share.",
			Old:    "\t\tl.entry(\"\").set(c.shared)\n",
			New:    "\t\tif l.wake == nil {\n\t\t\tl.entry(\"\").set(c.shared)\n\t\t}\n",
		},
		{
			Name: "distsys/mailbox/a-former-life-is-heard", Kind: WrongAnswer, In: "distsys/resource/mailbox", Packages: []string{"distsys/resource/mailbox"}, Run: "TestReceiverForgets",
			Breaks: "A receiver that has crashed is sent again what its life before has read.",
			Old:    "\tif o.peer != 0 && o.peer != peer.Life {\n\t\to.crashed()\n\t}\n",
			New:    "",
		},
		{
			Name: "distsys/mailbox/a-dead-sender-is-waited-for", Kind: Stuck, In: "distsys/resource/mailbox", Packages: []string{"distsys/resource/mailbox"}, Run: "TestSenderStartsAnew",
			Breaks: "What a sender had offered when it was killed holds a mailbox back although the sender's node runs again.",
			Old:    "\tm.succeeds(in)\n",
			New:    "",
		},
		{
			Name: "distsys/mailbox/another-node-ends-a-sender", Kind: Lost, In: "distsys/resource/mailbox", Packages: []string{"distsys/resource/mailbox"}, Run: "TestSenderStartsAnew",
			Breaks: "A sender loses its places in a mailbox when another node connects.",
			Old:    "\t\tif in.node != now.node || in.life == now.life ||",
			New:    "\t\tif in.life == now.life ||",
		},
		{
			Name: "distsys/queue/twice-in-a-set", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestDistinct",
			Breaks: "A mailbox that is a set has a message twice.",
			Old:    "\tcase first == nil:\n",
			New:    "\tcase first == nil, first != p:\n",
		},
		{
			Name: "distsys/queue/what-was-there-comes-back", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestDistinct",
			Breaks: "A message of a set that was sent again before it was taken out is there once more afterwards.",
			Old:    "\t\tq.pass(p)\n",
			New:    "",
		},
		{
			Name: "distsys/queue/written-before-the-read-is-there-again", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestASectionWritesToTheSetThatItReads",
			Breaks: "A section writes a message to a set that has it already, then reads it, and one is left.",
			Old:    "\tm.again = q.there != nil && q.reader == tx && q.hasTaken(m.key)\n",
			New:    "\tm.again = q.there != nil\n",
		},
		{
			Name: "distsys/queue/written-before-what-was-read-has-left", Kind: Lost, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestASectionWritesToTheSetThatItReads",
			Breaks: "A section reads a message of a set and writes it again through another resource, and it is gone.",
			Old:    "\tq.in.Commit(tx) //",
			New:    "\tdefer q.in.Commit(tx) //",
		},
		{
			Name: "distsys/queue/read-before-a-cast-like-it-is-decided", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestDistinctBehindAnUndecidedOne",
			Breaks: "A message of a set is read while one like it is undecided, whose sender takes places elsewhere, and that one is nothing, or there once more, as it happens.",
			Old:    "\tif q.casts[m.key] > 0 {\n",
			New:    "\tif false {\n",
		},
		{
			Name: "distsys/queue/a-cast-comes-while-one-like-it-is-read", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestRepeatedMessagesHoldUpNobody",
			Breaks: "The same, for one that comes while the other is being read.",
			Old:    "q.held || q.casts != nil && !alone)",
			New:    "q.held)",
		},
		{
			Name: "distsys/queue/a-reader-does-not-hear-of-what-came", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestRepeatedMessagesHoldUpNobody",
			Breaks: "The clock of a section lacks the senders of messages that became one with what it reads.",
			Old:    "\t\ttx.Observe(p.msg.Clock)\n\t}\n\tq.held",
			New:    "\t\t_ = p\n\t}\n\tq.held",
		},
		{
			Name: "distsys/queue/a-place-before-the-locks", Kind: WrongAnswer, In: "distsys", Packages: []string{"distsys/resource/queue"}, Run: "TestPlacesAreTakenLast",
			Breaks: "A section takes a place while it does not hold yet what it has read.",
			Old:    "ok && q.Queues(tx) {\n\t\t\ttx.placing",
			New:    "ok && q.Queues(tx) && false {\n\t\t\ttx.placing",
		},
		{
			Name: "distsys/queue/one-like-it-comes-before-the-commit", Kind: WrongAnswer, In: "distsys/resource/queue", Packages: []string{"distsys/resource/queue"}, Run: "TestDistinctIsHeld",
			Breaks: "A message gets a place in a set while one like it is being taken out, as if it had come before and after.",
			Old:    "\tq.held = true\n",
			New:    "",
		},
		{
			Name: "conform/what-was-undone-was-seen", Kind: Unsound, In: "internal/conform", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/lives",
			Breaks: "A program that shows what is not durable has its traces accepted.",
			Old:    "if u := p.undone; u != nil && u.shows {",
			New:    "if u := p.undone; u != nil && u.shows && f.undoAll {",
		},
		{
			Name: "conform/only-variables-are-undone", Kind: WrongAnswer, In: "internal/conform", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/lives",
			Breaks: "The trace of a process that was killed before its write of a shared variable, or its end, was on the disk is rejected.",
			Old:    "e.N >= f.undoFrom && e.Kept)",
			New:    "e.N >= f.undoFrom && e.Kept && len(e.Vars) > 0)",
		},
		{
			Name: "distsys/trace-marks-variables-only", Kind: WrongAnswer, In: "distsys", Packages: []string{"distsys"}, Run: "TestTraceSaysWhatIsKept",
			Breaks: "The trace does not mark a section that changes a shared variable, which a crash may undo.",
			Old:    "\t\tif err := e.record(\"\", keep); err != nil {\n",
			New:    "\t\tif err := e.record(\"\", keep && len(k.Vars) > 0); err != nil {\n",
		},
		{
			Name: "distsys/journal-panics", Kind: Unguarded, In: "distsys", Packages: []string{"distsys"}, Run: "TestValuesThatNoJournalHolds",
			Breaks: "A durable variable with a value that cannot be encoded ends the program.",
			Old:    "\tif cerr := value.Catch(func() { n, err = e.opt.Journal.Append(e.name, k) }); cerr != nil {\n\t\treturn cerr\n\t}\n",
			New:    "\tn, err = e.opt.Journal.Append(e.name, k)\n",
		},
		{
			Name: "conform/a-crash-is-a-start", Kind: Unsound, In: "internal/conform", Packages: []string{"cmd/ashlar"}, Run: "TestScripts/lives",
			Breaks: "Trace check takes any start behind a crash.",
			Old:    "e.Crash = f.events == 1 && f.log.kept != nil",
			New:    "e.Crash = f.events == 0",
		},
		{
			Name: "compile/crash/another-mailbox-is-cleared", Kind: Unsound, In: "internal/compile", Packages: []string{"internal/compile"}, Run: "TestDiagnostics",
			Breaks: "A crash part that clears the mailbox of another process is compiled as if it cleared the own one.",
			Old:    "\tif !ok || self.Local != m.Self {\n\t\treturn false\n\t}\n\tswitch x := a.Pairs",
			New:    "\t_, _ = self, ok\n\tswitch x := a.Pairs",
		},
	}
}
