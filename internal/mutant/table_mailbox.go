// SPDX-License-Identifier: Apache-2.0

package mutant

// mailboxMutants are about messages on the network: each arrives once, in
// order, and no sender is believed wrongly.
func mailboxMutants() []Mutant {
	return append(deliveryMutants(), linkMutants()...)
}

// worldTests run senders and receivers over a simulated network that breaks
// connections at any byte, and restart either side.
const worldTests = "TestInTheWorld|TestReceiverStartsAnew|TestSenderDiesUndecided|TestMessagesArriveOnceInOrder|TestFullMailbox|TestCasts|TestFrames"

func deliveryMutants() []Mutant {
	tests := []string{"distsys/resource/mailbox"}
	return []Mutant{
		{
			Name: "distsys/resource/mailbox/memory-is-not-used-again", Kind: WrongAnswer, In: "distsys/resource/mailbox", Packages: tests, Run: "TestRoundTripAllocations",
			Breaks: "Each access to a mailbox allocates memory to look it up.",
			Old:    "\tm.wire.Put(buf)\n\tif b != nil {",
			New:    "\tif b != nil {",
		},
		{
			Name: "distsys/resource/mailbox/numbers-go-back", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestNumbersDoNotGoBack", Short: true,
			Breaks: "A peer has the receiver remember transfers without a bound, and has them done again.",
			Old:    "case low < in.low:",
			New:    "case low < in.low && seq < in.low:",
		},
		{
			Name: "distsys/resource/mailbox/those-that-left-are-kept", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSendersThatLeave", Short: true,
			Breaks: "Each sender that finds a mailbox full and leaves is remembered until there is room.",
			Old:    "func(w want) bool { return w.in == in })",
			New:    "func(w want) bool { return w.in == nil })",
		},
		{
			Name: "distsys/resource/mailbox/all-addresses-share-a-life", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestTwoAddresses", Short: true,
			Breaks: "Of two addresses of one receiver, each connection ends that to the other.",
			Old:    "out.link.Life = m.opt.Link.Env.Random.Uint64() | 1",
			New:    "out.link.Life = m.opt.Link.Life",
		},
		{
			Name: "distsys/resource/mailbox/the-life-of-another-node", Kind: Lost, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSendersOfOneLife", Short: true,
			Breaks: "What a node sends is taken for a repetition of what another one of the same life has sent.",
			Old:    "out.link.Life = m.opt.Link.Env.Random.Uint64() | 1",
			New:    "out.link.Life = max(7, m.opt.Link.Env.Random.Uint64()%2)",
		},
		{
			Name: "distsys/resource/mailbox/here-first-forgotten-first", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSenderThatWasHereLast", Short: true,
			Breaks: "A receiver forgets the sender that connected first, though it left last: what it repeats is delivered again.",
			Old:    "in.peer = nil\n\tin.mark()\n",
			New:    "in.peer = nil\n",
		},
		{
			Name: "distsys/resource/mailbox/any-host-is-forgotten", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestHostHasItsOwn", Short: true,
			Breaks: "A host is refused although it could have a sender of its own forgotten, because that of another host has been gone for longer.",
			Old:    "\t\t\tcmp.Compare(networks[first.network], networks[in.network]),\n\t\t\tcmp.Compare(hosts[first.host], hosts[in.host]),\n",
			New:    "",
		},
		{
			Name: "distsys/resource/mailbox/a-host-that-stays-is-let-in", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: "TestHostThatStays", Short: true,
			Breaks: "A host that keeps all its senders connected has the senders of other hosts forgotten.",
			Old:    "cmp.Compare(hosts[host], hosts[first.host])) > 0 {",
			New:    "cmp.Compare(hosts[host], hosts[first.host])) > 1 {",
		},
		{
			Name: "distsys/resource/mailbox/all-senders-are-remembered", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSendersWithPlaces", Short: true,
			Breaks: "A receiver remembers as many senders as connect.",
			Old:    "if len(m.inlets) >= sessionsMax && !",
			New:    "if len(m.inlets) >= sessionsMax<<10 && !",
		},
		{
			Name: "distsys/resource/mailbox/senders-with-places-are-forgotten", Kind: Lost, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSendersWithPlaces", Short: true,
			Breaks: "A receiver forgets a sender of which something is undecided.",
			Old:    "return len(in.staged) == 0 && (",
			New:    "return (",
		},
		{
			Name: "distsys/resource/mailbox/refused-are-remembered", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSendersWithPlaces", Short: true,
			Breaks: "There is no room for a new sender while one that was refused reads why.",
			Old:    "in.peer == nil || in.peer.Over())",
			New:    "in.peer == nil)",
		},
		{
			Name: "distsys/resource/mailbox/clocks-are-free", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestClocksTakeRoom", Short: true,
			Breaks: "Clocks of 65,536 entries fill the memory of a receiver, and count nothing.",
			Old:    "n += tickBytes + len(t.Actor)",
			New:    "n += 0 * len(t.Actor)",
		},
		{
			Name: "distsys/resource/mailbox/each-message-pays-for-the-clock", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestClocksTakeRoom", Short: true,
			Breaks: "A clock that messages share is counted for each of them, so an offer that fits is refused.",
			Old:    "o.msgs[0].Size += clockSize(c)",
			New:    "o.msgs[0].Size += clockSize(c) * len(o.msgs)",
		},
		{
			Name: "distsys/resource/mailbox/window-wears-off", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestWindowDoesNotWearOff", Short: true,
			Breaks: "What is acknowledged counts for more than it did when it was sent, so that the window is no limit after a while.",
			Old:    "x.keptBytes += k.size",
			New:    "x.keptBytes += len(b)",
		},
		{
			Name: "distsys/resource/mailbox/a-section-waits-for-itself", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSectionThatIsAlone", Short: true,
			Breaks: "A section whose own messages exceed the window of bytes waits for an acknowledgement of none.",
			Old:    "n > 0 && !alone && bytes",
			New:    "n > 0 && (alone || !alone) && bytes",
		},
		{
			Name: "distsys/resource/mailbox/clocks-come-after-the-window", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestWindowHoldsClocks", Short: true,
			Breaks: "A section takes more than the window of bytes by its clocks.",
			Old:    "case len(x.kept) > 0 && total > m.opt.WindowBytes:",
			New:    "case len(x.kept) > 0 && total > m.opt.WindowBytes+pendingBytesMax:",
		},
		{
			Name: "distsys/resource/mailbox/room-is-not-heard-of", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestWindowDoesNotWearOff", Short: true,
			Breaks: "A section of two messages, of which the first had room in the window, sleeps when there is room for both.",
			Old:    "if n > 0 {\n\t\t// Whether",
			New:    "if n > 0 && l.starved {\n\t\t// Whether",
		},
		{
			Name: "distsys/resource/mailbox/deliver-has-no-limit-of-bytes", Kind: Unguarded, In: "distsys/resource/mailbox", Packages: tests, Run: "TestDeliverWithoutOffer", Short: true,
			Breaks: "A peer that delivers long messages, which it never offered, fills the memory.",
			Old:    "|| (b.queue.Bytes()-in.m.opt.Link.FrameMax)/2 > limits.Bytes {",
			New:    "{",
		},
		{
			Name: "distsys/resource/mailbox/clock-has-no-room-in-the-frame", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestRelaxedClockHasRoom", Short: true,
			Breaks: "A message whose clock makes it too long for a frame is sent again and again, and refused each time.",
			Old:    "m.fits(clock, len(b))",
			New:    "m.fits(clock-clock, len(b))",
		},
		{
			Name: "distsys/resource/mailbox/window-is-larger-than-the-receiver", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestSenderTakesNoMore", Short: true,
			Breaks: "A sender may have more unacknowledged than its receiver keeps, and then loses its connection again and again.",
			Old:    "|| o.WindowBytes > pendingBytesMax ",
			New:    "",
		},
		{
			Name: "distsys/resource/mailbox/duplicate-is-delivered", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "The last relaxed message is delivered again when its sender sends it again.",
			Old:    "case seq <= l.last:",
			New:    "case seq < l.last:",
		},
		{
			Name: "distsys/resource/mailbox/gap-is-accepted", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "A relaxed message may come before the one in front of it.",
			Old:    "case seq > l.last+1:",
			New:    "case seq > l.last+windowMax:",
		},
		{
			Name: "distsys/resource/mailbox/acknowledged-before-delivered", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "Messages that still wait for room in the mailbox are acknowledged, so senders do not notice that it is full.",
			Old:    "in.say(frameAck, key, l.last-uint64(len(l.pending)))",
			New:    "in.say(frameAck, key, l.last)",
		},
		{
			Name: "distsys/resource/mailbox/delivered-again-after-commit", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "A transfer that was committed before the connection broke is delivered once more after it.",
			Old:    "if _, here := in.staged[o.seq]; here || in.done[o.seq] {",
			New:    "if _, here := in.staged[o.seq]; here {",
		},
		{
			Name: "distsys/resource/mailbox/numbers-are-forgotten-early", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "The receiver forgets that the transfer with the least open number is done.",
			Old:    "for n := range in.done {\n\t\tif n < low {",
			New:    "for n := range in.done {\n\t\tif n <= low {",
		},
		{
			Name: "distsys/resource/mailbox/abort-delivers", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "What an aborted section has sent is delivered.",
			Old:    "case here && commit:\n",
			New:    "case here:\n",
		},
		{
			Name: "distsys/resource/mailbox/lossy-gap-ends-connections", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: "TestLossy", Short: true,
			Breaks: "After a lossy sender has given up messages, the receiver ends each of its connections.",
			Old:    "l.last = max(l.last, low-1)\n",
			New:    "",
		},
		{
			Name: "distsys/resource/timer/no-spread", Kind: Stuck, In: "distsys/resource/timer", Packages: []string{"distsys/resource/timer"}, Run: "TestSpread", Short: true,
			Breaks: "Timers of several nodes are always due together, and elections never end.",
			Old:    "if t.opt.Spread > 0 {",
			New:    "if t.opt.Spread < 0 {",
		},
		{
			Name: "examples/raftkv/late-answer-to-a-read", Kind: WrongAnswer, In: "examples/raftkv", Packages: []string{"examples/raftkv"}, Run: "TestFront", Short: true,
			Breaks: "What a server has answered to an earlier request is taken for the answer to a read that began later.",
			Old:    "id.Field(\"n\").AsInt() != r.n {",
			New:    "id.Field(\"n\").AsInt() > r.n {",
		},
		{
			Name: "examples/raftkv/late-answer-to-a-write", Kind: WrongAnswer, In: "examples/raftkv", Packages: []string{"examples/raftkv"}, Run: "TestFront", Short: true,
			Breaks: "The answer to a write that was given up is taken for that to the next write of its session.",
			Old:    "id.Field(\"n\").AsInt() != s.n {",
			New:    "id.Field(\"n\").AsInt() > s.n {",
		},
		{
			Name: "examples/raftkv/clients-fill-memory", Kind: Unguarded, In: "examples/raftkv", Packages: []string{"examples/raftkv"}, Run: "TestListener", Short: true,
			Breaks: "Clients that send without end take a mebibyte each.",
			Old:    " || k.l.pending.Load() > k.l.bounds.pending && k.load.Load() > k.l.bounds.share",
			New:    "",
		},
		{
			Name: "examples/raftkv/replies-fill-memory", Kind: Unguarded, In: "examples/raftkv", Packages: []string{"examples/raftkv"}, Run: "TestListener", Short: true,
			Breaks: "Replies do not count while they are sent, so clients that do not read take 64 MiB each.",
			Old:    "k.taken = int64(len(b))",
			New:    "k.taken = 0",
		},
		{
			Name: "examples/raftkv/sessions-begin-again", Kind: Lost, In: "examples/raftkv", Packages: []string{"examples/raftkv"}, Run: "TestFront", Short: true,
			Breaks: "Writes of a later life have the numbers of an earlier one, and are taken for repetitions.",
			Old:    "life: int32(life),",
			New:    "life: int32(life - life),",
		},
		{
			Name: "distsys/durable/tail-after-all", Kind: Lost, In: "distsys/durable", Packages: []string{"distsys/durable"}, Run: "TestTails", Short: true,
			Breaks: "After a restart a sequence has the elements that a section had taken away from its end.",
			Old:    "e.seqs[t.name] = append(elems[:t.keep], t.elems...)",
			New:    "e.seqs[t.name] = append(elems, t.elems...)",
		},
		{
			Name: "distsys/durable/whole-before-tail", Kind: Lost, In: "distsys/durable", Packages: []string{"distsys/durable"}, Run: "TestTails", Short: true,
			Breaks: "A sequence that is written whole stays as its earlier elements have it.",
			Old:    "\t\tdelete(e.seqs, name)\n",
			New:    "",
		},
		{
			Name: "compile/own-macro-of-that-name", Kind: Unsound, In: "internal/compile", Packages: []string{"internal/system"}, Run: "TestResourcesByName", Short: true,
			Breaks: "A mapping macro of the algorithm's own that has the name of a lossy one gets lossy mailboxes, though it loses nothing.",
			Old:    "return m != nil && m.Module == Resources && m.Name == name",
			New:    "return m != nil && m.Name == name",
		},
		{
			Name: "distsys/resource/mailbox/nothing-is-sent-again", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "Relaxed messages that were on their way when the connection broke are not sent again.",
			Old:    "l.sent, l.full = 0, false",
			New:    "l.full = false",
		},
		{
			Name: "distsys/resource/mailbox/commit-to-who-has-forgotten", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "After a reconnection the commit is sent without the messages, though the receiver may have given them up.",
			Old:    "case t.state == committed && t.life == o.life:",
			New:    "case t.state == committed && t.life <= o.life:",
		},
		{
			Name: "distsys/resource/mailbox/lost-answer-is-waited-for", Kind: Stuck, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "A section whose offer was on its way when the connection broke waits for the answer forever.",
			Old:    "\t\t\tt.state = lost\n\t\t\tt.tx.Answered().Wake()\n",
			New:    "\t\t\tt.tx.Answered().Wake()\n",
		},
		{
			Name: "distsys/resource/mailbox/aborted-draft-is-sent", Kind: NotAtomic, In: "distsys/resource/mailbox", Packages: tests, Run: worldTests,
			Breaks: "A relaxed sender that aborts does not give back the window that it has reserved.",
			Old:    "\t\tx.reserved -= len(d.values)\n",
			New:    "",
		},
	}
}
