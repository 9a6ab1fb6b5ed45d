// SPDX-License-Identifier: Apache-2.0

package mutant

// hostMutants are about running compiled Dedalus programs: frames, hosts, clients and
// deployments.
func hostMutants() []Mutant {
	return append(append(append(hostWireMutants(), hostLinkMutants()...), hostDurableMutants()...), dedalusAttackMutants()...)
}

func hostWireMutants() []Mutant {
	wire := []string{"dedalus/rt/wire"}
	return []Mutant{
		{
			Name: "dedalus/rt/wire/row-may-be-longer-than-the-batch", Kind: Unguarded, In: "dedalus/rt/wire", Packages: wire,
			Breaks: "A length from the wire is believed.",
			Old:    " || size > uint64(len(b)-n-m) {",
			New:    " || size > uint64(len(b)) {",
		},
		{
			Name: "link/proof-is-good-for-any-name", Kind: Unguarded, In: "link", Packages: []string{"link"}, Run: "TestOnlyTheKeyProves",
			Breaks: "A proof of one instance is one of another.",
			Old:    "\twrite(hello)\n",
			New:    "\twrite(hello[:len(magic)+11+nonceLen])\n",
		},
		{
			Name: "dedalus/rt/wire/last-batch-is-sent-again", Kind: NotAtomic, In: "dedalus/rt/wire", Packages: wire,
			Breaks: "Over a new connection the batch that came last comes again, as if it had not.",
			Old:    "o.frames[o.next].seq <= last {",
			New:    "o.frames[o.next].seq < last {",
		},
		{
			Name: "dedalus/rt/wire/window-is-not-kept-to", Kind: Unguarded, In: "dedalus/rt/wire", Packages: wire,
			Breaks: "A receiver is sent more than it has said that it takes.",
			Old:    "if o.flying > 0 && o.flying+len(b) > window {",
			New:    "if false && o.flying+len(b) > window {",
		},
		{
			Name: "dedalus/rt/wire/ack-of-nothing-is-taken", Kind: Lost, In: "dedalus/rt/wire", Packages: wire,
			Breaks: "An acknowledgement of what was never sent passes.",
			Old:    "\tif seq > sent {",
			New:    "\tif seq > sent+1000 {",
		},
	}
}

func hostLinkMutants() []Mutant {
	host := []string{"dedalus/rt/host"}
	return []Mutant{
		{
			Name: "dedalus/rt/host/client-passes-for-an-instance", Kind: Unguarded, In: "dedalus/rt/host", Packages: host, Run: "TestHellos",
			Breaks: "A client may be called as an instance is.",
			Old:    "case client && h.opt.instanceName(peer.Node):",
			New:    "case client && peer.Node == h.opt.Who.Node:",
		},
		{
			Name: "dedalus/rt/host/key-is-not-asked-for", Kind: Unguarded, In: "dedalus/rt/host", Packages: host, Run: "TestHellos",
			Breaks: "A peer that claims to be an instance is believed.",
			Old:    "case !client && !peer.Keyed && len(h.opt.Key) > 0:",
			New:    "case !client && !peer.Keyed && len(h.opt.Key) > 1000:",
		},
		{
			Name: "dedalus/rt/host/peer-without-key-is-told", Kind: Unguarded, In: "link", Packages: host, Run: "TestPeerWithoutKey",
			Breaks: "Messages go to any process that listens at an instance's address.",
			Old:    "if h.Keyed = len(s.opt.Key) > 0; h.Keyed {",
			New:    "if h.Keyed = len(s.opt.Key) > 1000; h.Keyed {",
		},
		{
			Name: "dedalus/rt/host/clients-send-messages", Kind: Unguarded, In: "dedalus/rt/host", Packages: host, Run: "TestMessagesOfClients",
			Breaks: "A client may send what only instances do.",
			Old:    "\tif r.Kind != want {",
			New:    "\tif r.Kind != want && r.Kind != rt.Message {",
		},
		{
			Name: "dedalus/rt/host/batch-is-taken-twice", Kind: NotAtomic, In: "dedalus/rt/host", Packages: host, Run: "TestTwice",
			Breaks: "What is sent again over a new connection arrives again.",
			Old:    "\tcase seq <= src.last:\n",
			New:    "\tcase seq < src.last:\n",
		},
		{
			Name: "dedalus/rt/host/inbox-is-forgotten", Kind: Stuck, In: "dedalus/rt/host", Packages: host, Run: "TestNothingIsLost",
			Breaks: "What came while a tick took what a limit had left waits for another message.",
			Old:    "some := func(i int) bool { return s.at[i] < len(s.work[i].list) || h.inbox.batches(i) > 0 }",
			New:    "some := func(i int) bool { return s.at[i] < len(s.work[i].list) }",
		},
		{
			Name: "dedalus/rt/host/new-life-is-not-told-what-holds", Kind: Lost, In: "dedalus/rt/host", Packages: host, Run: "TestUnacknowledged",
			Breaks: "An instance that starts anew never hears what was said to its last life.",
			Old:    "if p.life != 0 && p.life != from.Life {",
			New:    "if p.life != 0 && p.life != p.life {",
		},
		{
			Name: "dedalus/rt/host/older-piece-goes-on", Kind: Unsound, In: "dedalus/rt/host", Packages: host, Run: "TestPiecesStartTogether",
			Breaks: "A piece that has not lost its memory sends to one that has.",
			Old:    "\tcase number < ours:\n\t\treturn true, nil",
			New:    "\tcase number < ours:\n\t\treturn false, nil",
		},
		{
			Name: "dedalus/rt/host/pieces-do-not-meet", Kind: Unsound, In: "dedalus/rt/host", Packages: host, Run: "TestPiecesMeet",
			Breaks: "Pieces that have nothing to say to each other do not hear that one has lost its memory.",
			Old:    "\t\t\tp.mu.Lock()\n\t\t\tp.dial()\n\t\t\tp.mu.Unlock()\n",
			New:    "\t\t\t_ = p.dial\n",
		},
		{
			Name: "dedalus/rt/host/output-is-faster-than-its-client", Kind: Lost, In: "dedalus/rt/host", Packages: host, Run: "TestOutputBefore",
			Breaks: "An answer that is given before its client has connected is dropped.",
			Old:    "l := h.clients.way(m.To)",
			New:    "l := (*link)(nil)\n\t\tif c := h.clients.byName[m.To]; c != nil {\n\t\t\tl = &c.link\n\t\t}",
		},
	}
}

func hostDurableMutants() []Mutant {
	host := []string{"dedalus/rt/host"}
	return []Mutant{
		{
			Name: "dedalus/rt/host/acknowledged-before-it-is-durable", Kind: Lost, In: "dedalus/rt/host", Packages: host, Run: "TestAcknowledgedIsDurable",
			Breaks: "What a voter has acknowledged and not put down is gone after a crash.",
			Old:    "\tlogged := len(s.out.Changes) > 0\n",
			New:    "\tlogged := len(s.out.Changes) > 0\n\th.inbox.finish(s.taken)\n\ts.taken = s.taken[:0]\n",
		},
		{
			Name: "dedalus/rt/host/nothing-is-durable", Kind: Lost, In: "dedalus/rt/host", Packages: host, Run: "TestAcknowledgedIsDurable",
			Breaks: "The next tick begins before the disk has what this one put down.",
			Old:    "\ts.counts.Commits++\n\treturn h.disk.Commit()",
			New:    "\tif s.counts.Commits++; s.counts.Changes > 0 {\n\t\treturn nil\n\t}\n\treturn h.disk.Commit()",
		},
		{
			Name: "dedalus/rt/host/half-a-tick-comes-back", Kind: NotAtomic, In: "dedalus/rt/host", Packages: host, Run: "TestRecords",
			Breaks: "Of a tick with much to put down a part comes back after a crash.",
			Old:    "\tif flags&groupLast == 0 {",
			New:    "\tif false && flags&groupLast == 0 {",
		},
		{
			Name: "dedalus/rt/host/torn-tick-spoils-the-next", Kind: NotAtomic, In: "dedalus/rt/host", Packages: host, Run: "TestRecords",
			Breaks: "What is left of a tick that a crash has torn comes back with the next one.",
			Old:    "\t\tg.buf, g.begun = g.buf[:0], true",
			New:    "\t\tg.begun = true",
		},
		{
			Name: "dedalus/rt/host/incarnation-stays", Kind: Unsound, In: "dedalus/rt/host", Packages: host, Run: "TestIncarnation",
			Breaks: "A piece that has lost its memory is of the same incarnation as those that have not.",
			Old:    "\tn := last + 1",
			New:    "\tn := max(last, 1)",
		},
		{
			Name: "dedalus/deploy/pieces-keep-nothing", Kind: Unsound, In: "internal/dedalus/deploy", Packages: []string{"internal/dedalus/deploy"},
			Breaks: "A piece of a divided node has no disk for its incarnation.",
			Old:    "return c.Durable || c.Carries && len(d.Pieces(p)) > 0",
			New:    "return c.Durable",
		},
		{
			Name: "dedalus/deploy/two-processes-at-one-address", Kind: Unguarded, In: "internal/dedalus/deploy", Packages: []string{"internal/dedalus/deploy"},
			Breaks: "A deployment is taken in which two processes listen at one address.",
			Old:    "if other := addrs[addr]; other != \"\" {",
			New:    "if other := addrs[addr]; other == p.Node {",
		},
	}
}
