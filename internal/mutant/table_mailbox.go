package mutant

// mailboxMutants are about what crosses the network: each message arrives
// once, in order, and nobody is believed who should not be.
func mailboxMutants() []Mutant {
	return append(deliveryMutants(), wireMutants()...)
}

// worldTests run senders and receivers over a simulated network that breaks
// connections at any byte, and restart either side.
const worldTests = "TestInTheWorld|TestReceiverStartsAnew|TestSenderDiesUndecided|TestMessagesArriveOnceInOrder|TestFullMailbox|TestCasts|TestFrames"

func deliveryMutants() []Mutant {
	tests := []string{"distsys/resource/mailbox"}
	return []Mutant{
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
			Old:    "in.say(frameAck, []byte(key), l.last-uint64(len(l.pending)))",
			New:    "in.say(frameAck, []byte(key), l.last)",
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
			Breaks: "A section whose offer was on its way when the connection broke waits for the answer for ever.",
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

func wireMutants() []Mutant {
	tests := []string{"distsys/resource/wire"}
	return []Mutant{
		{
			Name: "distsys/resource/wire/checksum-is-not-compared", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "A frame with a flipped bit is believed.",
			Old:    "checksum(b[:end]); got != want {",
			New:    "checksum(b[:end]); got != want && n == 0 {",
		},
		{
			Name: "distsys/resource/wire/length-is-not-bounded", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "A peer can have as much memory taken as it likes by announcing a long frame.",
			Old:    "case uint64(n) > uint64(d.Max):",
			New:    "case uint64(n) > uint64(d.Max)<<16:",
		},
		{
			Name: "distsys/resource/wire/count-is-not-bounded", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "A count within a frame may be larger than its limit.",
			Old:    "if x > uint64(limit) {",
			New:    "if x > uint64(limit)<<32 {",
		},
		{
			Name: "distsys/resource/wire/first-piece-is-forgotten", Kind: NotAtomic, In: "distsys/resource/wire", Packages: tests,
			Breaks: "A frame that comes in three pieces loses what came second.",
			Old:    "d.rest = d.rest[:copy(d.rest, b)]",
			New:    "d.rest = d.rest[:copy(d.rest, b)/2]",
		},
		{
			Name: "distsys/resource/wire/long-frames-before-the-handshake", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "A stranger may send frames as long as a peer's before it has said who it is.",
			Old:    "dec: Decoder{Max: helloMax}}",
			New:    "dec: Decoder{Max: o.FrameMax}}",
		},
		{
			Name: "distsys/resource/wire/proof-is-not-compared", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "Who does not know the secret is let in.",
			Old:    "if !hmac.Equal(payload, want) {",
			New:    "if !hmac.Equal(payload, want) && len(payload) != len(want) {",
		},
		{
			Name: "distsys/resource/wire/proof-can-be-reflected", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "The proof does not say which side gives it, so a peer's own can be sent back to it.",
			Old:    "[][]byte{[]byte(side), dialler.raw, listener.raw}",
			New:    "[][]byte{dialler.raw, listener.raw}",
		},
		{
			Name: "distsys/resource/wire/proof-can-be-replayed", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "The proof does not depend on what the listener said, so it holds for another connection.",
			Old:    "[][]byte{[]byte(side), dialler.raw, listener.raw}",
			New:    "[][]byte{[]byte(side), dialler.raw}",
		},
		{
			Name: "distsys/resource/wire/another-system-is-a-peer", Kind: Unguarded, In: "distsys/resource/wire", Packages: tests,
			Breaks: "Processes of different systems talk to each other.",
			Old:    "case peer.System != h.System:",
			New:    "case len(peer.System) != len(h.System):",
		},
	}
}
