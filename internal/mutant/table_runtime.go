// SPDX-License-Identifier: Apache-2.0

package mutant

// runtimeMutants are about running systems: sections are atomic, nothing is
// lost, and a section that can continue does not wait.
func runtimeMutants() []Mutant {
	return append(sectionMutants(), resourceMutants()...)
}

func sectionMutants() []Mutant {
	tests := []string{"distsys"}
	return []Mutant{
		{
			Name: "distsys/commit-before-all-have-agreed", Kind: NotAtomic, In: "distsys", Packages: tests, Run: "Commit|Refused|Abort|Atomic|Order",
			Breaks: "A section commits while a resource has not answered its pre-commit.",
			Old:    "if len(rest) > 0 {\n\t\treturn ErrPending\n\t}",
			New:    "if len(rest) == len(tx.joined) {\n\t\treturn ErrPending\n\t}",
		},
		{
			Name: "distsys/abort-in-order-of-access", Kind: NotAtomic, In: "distsys", Packages: tests, Run: "Abort|Order",
			Breaks: "Resources are undone in the order in which they were touched, not from the last to the first.",
			Old:    "for i := len(tx.joined) - 1; i >= 0; i-- {",
			New:    "for i := range tx.joined {",
		},
		{
			Name: "distsys/variables-survive-an-abort", Kind: NotAtomic, In: "distsys", Packages: tests, Run: "TestAbortLeavesNoTrace",
			Breaks: "What an aborted section assigned is still there in the next attempt.",
			Old:    "\tin.work = in.cur\n",
			New:    "",
		},
		{
			Name: "distsys/printed-before-commit", Kind: NotAtomic, In: "distsys", Packages: tests, Run: "TestPrint",
			Breaks: "What an aborted attempt printed is printed with the next one that commits.",
			Old:    "\t\ttx.printed = clearTail(tx.printed)\n",
			New:    "",
		},
		{
			Name: "distsys/wakeup-is-lost-before-sleep", Kind: Stuck, In: "distsys", Packages: tests, Run: "TestNoWakeup",
			Breaks: "A change between the second look at a resource and going to sleep does not wake the instance.",
			Old:    "e.tracer.Trace(Waits{e.name, e.code.labelName(e.pc)})\n\t}\n\treturn e.sleep()",
			New:    "e.tracer.Trace(Waits{e.name, e.code.labelName(e.pc)})\n\t}\n\te.signal.Take()\n\treturn e.sleep()",
		},
		{
			Name: "distsys/answer-takes-a-wakeup-with-it", Kind: Stuck, In: "distsys", Packages: tests, Run: "TestNoWakeup",
			Breaks: "Answers to pre-commits and changes share a signal: a change that comes with an answer is lost.",
			Old:    "env.Waker { return tx.run.answered }",
			New:    "env.Waker { tx.run.answered = tx.run.signal; return tx.run.signal }",
		},
		{
			Name: "distsys/announced-change-is-slept-through", Kind: Stuck, In: "distsys", Packages: []string{"distsys/resource/mailbox"}, Run: "TestInTheWorld|TestCasts",
			Breaks: "A change that came while a section was committing, and was announced then, does not keep it from sleeping.",
			Old:    "\tif e.signal.Woken() {\n\t\treturn Running\n\t}\n",
			New:    "",
		},
		{
			Name: "distsys/only-the-first-resource-is-watched", Kind: Stuck, In: "distsys", Packages: tests, Run: "TestEitherWaitsForBoth",
			Breaks: "A section that is blocked on two resources is woken by the first only.",
			Old:    "tx.watched = append(tx.watched, w)\n\tw.Watch(tx.run.signal)",
			New:    "tx.watched = append(tx.watched, w)\n\tif len(tx.watched) == 1 {\n\t\tw.Watch(tx.run.signal)\n\t}",
		},
		{
			Name: "distsys/same-branch-first-for-ever", Kind: Stuck, In: "distsys", Packages: tests, Run: "Branch|Starve|Sets",
			Breaks: "An either takes the branch that it took last, as long as it is enabled.",
			Old:    "turn{c.point, c.taken() + 1}",
			New:    "turn{c.point, c.taken()}",
		},
		{
			Name: "distsys/turns-beat-in-time-with-the-sets", Kind: Stuck, In: "distsys", Packages: tests, Run: "Branch|Starve|Sets",
			Breaks: "An element of a set that changes from visit to visit may never be chosen.",
			Old:    "t.point == point && env.IntN(e.rng, jumpEvery) != 0 {",
			New:    "t.point == point {",
		},
		{
			Name: "distsys/invariant-holds-on-the-old-state", Kind: Unsound, In: "distsys", Packages: tests, Run: "TestInvariants",
			Breaks: "Compiled invariants are evaluated on the state before the section.",
			Old:    "ok, err := inv.Holds(&in.work, tx)",
			New:    "ok, err := inv.Holds(&in.cur, tx)",
		},
		{
			Name: "distsys/return-to-the-wrong-depth", Kind: WrongAnswer, In: "distsys", Packages: tests, Run: "TestProcedures|TestHowRunsEnd",
			Breaks: "A return leaves the stack as it is.",
			Old:    "return s.top.ret, s.top.saved, Stack[F]{s.top.below}",
			New:    "return s.top.ret, s.top.saved, s",
		},
		{
			Name: "distsys/trace-leaves-out-what-was-read", Kind: Unsound, In: "distsys", Packages: []string{"distsys/resource/local"}, Run: "Clocks",
			Breaks: "The clock of a section does not count the sections whose writes it has read.",
			Old:    "e.tx.stamp = e.clock.Merge(e.tx.seen).With(e.actor, e.n+1)",
			New:    "e.tx.stamp = e.clock.With(e.actor, e.n+1)",
		},
	}
}

func resourceMutants() []Mutant {
	local := []string{"distsys/resource/local"}
	queue := []string{"distsys/resource/queue"}
	return []Mutant{
		{
			Name: "distsys/resource/local/write-beside-a-reader", Kind: NotAtomic, In: "distsys/resource/local", Packages: local,
			Breaks: "A shared variable can be written while another section that has read it goes on.",
			Old:    "write && others > 0:",
			New:    "write && others > 1:",
		},
		{
			Name: "distsys/cell/second-write-is-what-an-abort-restores", Kind: NotAtomic, In: "distsys/cell", Packages: []string{"distsys/cell"},
			Breaks: "Of two writes to one variable in a section that aborts the first one stays.",
			Old:    "if !c.saved {\n\t\tc.saved = true",
			New:    "if !c.saved || true {\n\t\tc.saved = true",
		},
		{
			Name: "distsys/resource/local/clock-of-writers-only", Kind: Unsound, In: "distsys/resource/local", Packages: local,
			Breaks: "A section that writes does not come after those that have read the old value.",
			Old:    "if tx.Traced() {\n\t\ts.clock",
			New:    "if tx.Traced() && s.writer == tx {\n\t\ts.clock",
		},
		{
			Name: "distsys/resource/queue/undecided-place-is-read", Kind: NotAtomic, In: "distsys/resource/queue", Packages: queue,
			Breaks: "A message of a section that may still abort can be read.",
			Old:    "if q.taken >= len(q.places) || !q.places[q.taken].ready {",
			New:    "if q.taken >= len(q.places) {",
		},
		{
			Name: "distsys/resource/queue/aborted-read-is-taken-out", Kind: NotAtomic, In: "distsys/resource/queue", Packages: queue,
			Breaks: "A message that an aborted section has read is gone.",
			Old:    "func (r *reading) Abort(tx *distsys.Tx)  { r.end(tx, false) }",
			New:    "func (r *reading) Abort(tx *distsys.Tx)  { r.end(tx, true) }",
		},
		{
			Name: "distsys/resource/queue/length-may-change-before-commit", Kind: NotAtomic, In: "distsys/resource/queue", Packages: queue,
			Breaks: "A section commits although the length that it has read is no longer the length.",
			Old:    "if was.seen != q.changes || q.reader != nil && q.reader != tx {",
			New:    "if q.reader != nil && q.reader != tx {",
		},
		{
			Name: "distsys/resource/queue/nobody-is-told-of-a-dropped-place", Kind: Stuck, In: "distsys/resource/queue", Packages: queue,
			Breaks: "When the undecided message in front is given up, who waits for the one behind it is not woken.",
			Old:    "q.readable.wake() // a message behind may be at the front now",
			New:    "",
		},
		{
			Name: "distsys/resource/queue/dropped-bytes-still-count", Kind: Stuck, In: "distsys/resource/queue", Packages: queue,
			Breaks: "Messages that were given up use up the room of the queue permanently.",
			Old:    "\t\t\tq.bytes -= p.msg.Size\n",
			New:    "",
		},
		{
			Name: "distsys/resource/queue/undecided-messages-cross", Kind: NotAtomic, In: "distsys/resource/queue", Packages: queue,
			Breaks: "Two sections that send to the same two mailboxes may come in different orders in them.",
			Old:    "if !alone && !q.decided() {",
			New:    "if !alone && len(q.places) > 0 && !q.places[0].ready {",
		},
	}
}
