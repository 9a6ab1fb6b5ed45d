// SPDX-License-Identifier: Apache-2.0

package mutant

// linkMutants are about the frames, handshakes and limits between processes.
func linkMutants() []Mutant {
	tests := []string{"link"}
	return []Mutant{
		{
			Name: "link/checksum-is-not-compared", Kind: Unguarded, In: "link", Packages: tests, Run: "TestEveryFlippedBit", Short: true,
			Breaks: "A frame with a flipped bit is believed.",
			Old:    "if checksum(whole[:end]) == binary",
			New:    "if true || checksum(whole[:end]) == binary",
		},
		{
			Name: "link/length-is-not-bounded", Kind: Unguarded, In: "link", Packages: tests, Run: "TestScannerRefuses", Short: true,
			Breaks: "A peer can have as much memory taken as it likes by announcing a long frame.",
			Old:    "case n > uint64(limit):",
			New:    "case n > uint64(limit)<<16:",
		},
		{
			Name: "link/another-version-is-read", Kind: Unguarded, In: "link", Packages: tests, Run: "TestScannerRefuses", Short: true,
			Breaks: "Frames of a version that is not known are taken for ours.",
			Old:    "b[lengthLen] != Version:",
			New:    "b[lengthLen] == 0:",
		},
		{
			Name: "link/count-is-not-bounded", Kind: Unguarded, In: "link", Packages: tests, Run: "TestCounts", Short: true,
			Breaks: "A count within a frame may be larger than its limit.",
			Old:    "if x > uint64(limit) {",
			New:    "if x > uint64(limit)<<32 {",
		},
		{
			Name: "link/first-piece-is-forgotten", Kind: NotAtomic, In: "link", Packages: tests, Run: "TestScannerTakesAnyPieces", Short: true,
			Breaks: "A frame that comes in three pieces loses what came second.",
			Old:    "s.rest = append(s.rest, s.in[:n]...)",
			New:    "s.rest = append(s.rest[:len(s.rest)-len(s.rest)/7], s.in[:n]...)",
		},
		{
			Name: "link/long-frames-before-the-handshake", Kind: Unguarded, In: "link", Packages: tests, Run: "TestAStrangerSendsNoLongFrame", Short: true,
			Breaks: "A stranger may send frames as long as a peer's before it has said who it is.",
			Old:    "s := &Session{opt: o, began:",
			New:    "s := &Session{opt: o, scan: Scanner{Max: o.FrameMax}, began:",
		},
		{
			Name: "link/served-before-the-proof", Kind: Unguarded, In: "link", Packages: tests, Run: "TestOnlyTheKeyProves", Short: true,
			Breaks: "The service hears a peer that has not proved that it knows the key.",
			Old:    "if f.Type >= Service && s.stage == finished {",
			New:    "if f.Type >= Service {",
		},
		{
			Name: "link/proof-is-not-compared", Kind: Unguarded, In: "link", Packages: tests, Run: "TestOnlyTheKeyProves", Short: true,
			Breaks: "A peer that does not know the key is let in.",
			Old:    "if !hmac.Equal(payload, prove(s.opt.Key, dialler,",
			New:    "if len(payload) != proofLen && !hmac.Equal(payload, prove(s.opt.Key, dialler,",
		},
		{
			Name: "link/impostor-is-believed", Kind: Unguarded, In: "link", Packages: tests, Run: "TestImpostors", Short: true,
			Breaks: "A client gives its messages to a listener that does not know the key.",
			Old:    "if !hmac.Equal(proof, prove(s.opt.Key, listener,",
			New:    "if len(proof) != proofLen && !hmac.Equal(proof, prove(s.opt.Key, listener,",
		},
		{
			Name: "link/proof-can-be-reflected", Kind: Unguarded, In: "link", Packages: tests, Run: "TestOnlyTheKeyProves", Short: true,
			Breaks: "The proof does not say which side gives it, so a peer's own can be sent back to it.",
			Old:    "write([]byte{byte(s)})",
			New:    "write([]byte{byte(dialler)})",
		},
		{
			Name: "link/proof-can-be-replayed", Kind: Unguarded, In: "link", Packages: tests, Run: "TestOnlyTheKeyProves", Short: true,
			Breaks: "The proof does not depend on what the listener said, so it holds for another connection.",
			Old:    "\twrite(bare)\n",
			New:    "\twrite(bare[:8])\n",
		},
		{
			Name: "link/another-system-is-a-peer", Kind: Unguarded, In: "link", Packages: tests, Run: "TestHellos", Short: true,
			Breaks: "Processes of different systems talk to each other.",
			Old:    "case h.system != o.System:",
			New:    "case len(h.system) != len(o.System):",
		},
		{
			Name: "link/another-node-answers", Kind: Unguarded, In: "link", Packages: tests, Run: "TestHellos", Short: true,
			Breaks: "A node takes what is meant for another one.",
			Old:    "case h.To != \"\" && h.To != o.Node:",
			New:    "case len(h.To) > NameMax:",
		},
		{
			Name: "link/all-are-guests", Kind: Unguarded, In: "link", Packages: tests, Run: "TestHellos", Short: true,
			Breaks: "A side without the key is let in where the service wants none.",
			Old:    "len(o.Key) > 0 && !o.Guests:",
			New:    "len(o.Key) > NameMax:",
		},
		{
			Name: "link/peers-have-no-places", Kind: Unguarded, In: "link", Packages: tests, Run: "TestPeersOfOneHost", Short: true,
			Breaks: "A host takes as many places of a server as it likes.",
			Old:    "|| d.sum(peers) <= d.opt.ConnsMax {",
			New:    "|| d.sum(peers) >= 0 {",
		},
		{
			Name: "link/the-newest-peer-goes", Kind: Stuck, In: "link", Packages: tests, Run: "TestPeersOfOneHost", Short: true,
			Breaks: "One host takes all places of a server and keeps all others out.",
			Old:    "of := d.most(peers, s)",
			New:    "of := s.host",
		},
		{
			Name: "link/ports/one-host-keeps-others-out", Kind: Stuck, In: "link", Packages: []string{"distsys/resource/mailbox"}, Run: "TestOneHost", Short: true,
			Breaks: "One host takes all places of a mailbox server and keeps all others out.",
			Old:    "of := d.most(peers, s)",
			New:    "of := s.host",
		},
		{
			Name: "link/hosts-are-not-counted", Kind: Unguarded, In: "link", Packages: tests, Run: "TestStrangersOfOneHost", Short: true,
			Breaks: "A host that opens connections and says nothing ends the handshakes of others.",
			Old:    "of = d.most(strangers, newest)",
			New:    "of = d.all[0].host",
		},
		{
			Name: "link/one-host-is-all-strangers", Kind: Unguarded, In: "link", Packages: tests, Run: "TestStrangersOfOneHost", Short: true,
			Breaks: "One host takes all places of those that shake hands.",
			Old:    "}) >= d.opt.StrangersHostMax:",
			New:    "}) > d.opt.StrangersHostMax:",
		},
		{
			Name: "link/one-machine-is-many-hosts", Kind: Stuck, In: "link", Packages: tests, Run: "TestAddressesOfOneNetwork", Short: true,
			Breaks: "A machine that connects from many addresses of its network keeps out all others.",
			Old:    "return host, around.String()",
			New:    "return host, host + around.String()",
		},
		{
			Name: "link/each-host-has-a-share", Kind: Unguarded, In: "link", Packages: tests, Run: "TestNetworksHaveEqualShares", Short: true,
			Breaks: "Where networks have too much, the host that has most loses, and not the network.",
			Old:    "networks[s.network] > networks[own.network] || s.network == own.network && hosts",
			New:    "hosts",
		},
		{
			Name: "link/one-host-is-its-network", Kind: Stuck, In: "link", Packages: tests, Run: "TestAddressesOfOneNetwork", Short: true,
			Breaks: "A host that takes all places of its network keeps out the others in it.",
			Old:    "|| s.network == own.network && hosts[s.host] > hosts[own.host] {",
			New:    "{",
		},
		{
			Name: "link/any-node-may-answer", Kind: Unguarded, In: "link", Packages: tests, Run: "TestAnotherNodeAnswers", Short: true,
			Breaks: "A client gives what it has for one node to another that answers in its place.",
			Old:    "if s.to != \"\" && h.Node != s.to {",
			New:    "if h.Node == \"\" {",
		},
		{
			Name: "link/silent-strangers-keep-their-places", Kind: Stuck, In: "link", Packages: []string{"distsys/resource/mailbox"}, Run: "Strangers", Short: true,
			Breaks: "Connections that say nothing take all places of a server, and keep peers out.",
			Old:    "\td.makeRoom(s)\n",
			New:    "\tif len(d.all) >= d.opt.StrangersHostMax {\n\t\treturn false\n\t}\n\td.makeRoom(s)\n",
		},
		{
			Name: "link/refused-are-not-counted", Kind: Unguarded, In: "link", Packages: tests, Run: "TestRefusedCount", Short: true,
			Breaks: "Connections that are refused and stay open are bounded by nothing.",
			Old:    "return !s.known || s.Over() }",
			New:    "return !s.known }",
		},
		{
			Name: "link/unfinished-frames-add-up", Kind: Unguarded, In: "link", Packages: tests, Run: "Unfinished", Short: true,
			Breaks: "Every connection may hold an unfinished frame of the greatest length.",
			Old:    "for d.partial > d.opt.PartialMax {",
			New:    "for d.partial > d.opt.PartialMax*d.opt.ConnsMax {",
		},
		{
			Name: "link/a-slow-frame-goes-on", Kind: Unguarded, In: "link", Packages: tests, Run: "TestLateConnections", Short: true,
			Breaks: "A frame that comes byte by byte keeps its connection forever.",
			Old:    ">= o.FrameWithin:",
			New:    ">= o.FrameWithin*1000:",
		},
		{
			Name: "link/silence-goes-on", Kind: Unguarded, In: "link", Packages: tests, Run: "TestLateConnections|TestClientGivesUp", Short: true,
			Breaks: "A peer that says nothing keeps its connection forever.",
			Old:    "silent >= o.DeadAfter:",
			New:    "silent >= o.DeadAfter*1000:",
		},
		{
			Name: "link/any-welcome-resets-the-wait", Kind: Unguarded, In: "link", Packages: tests, Run: "TestWelcomeAndHangUp", Short: true,
			Breaks: "A peer that welcomes and hangs up is dialled all the time.",
			Old:    "if d.s.Up() && o.Env.Clock.Now().Sub(d.since) >= o.BackoffMax {",
			New:    "if d.s.Up() {",
		},
	}
}
