// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersWormMutants are about causes that ended or silenced clusters of
// ashlard: strangers' claims, restored backups, logs that filled the memory,
// replacements, and wrong protocols.
func strangersWormMutants() []Mutant {
	node, daemon := []string{"internal/worm/node"}, []string{"cmd/ashlard/daemon"}
	return []Mutant{
		{
			Name: "strangers/worm/a-client-mutes", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestClaimsOfGuests|TestRefusals",
			Breaks: "What a client claims to have seen of a server mutes the server.",
			Old:    "w.Refusal, w.Text = wire.RefusalBehind, s.trouble\n", New: "s.witness.rolledBack = s.trouble\n\t\tw.Refusal, w.Text = wire.RefusalBehind, s.trouble\n",
		},
		{
			Name: "strangers/worm/signatures-are-not-checked", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "Anybody reports for any server.",
			Old:    "if !ed25519.Verify(", New: "if false && !ed25519.Verify(",
		},
		{
			Name: "strangers/worm/a-signature-serves-for-any-cluster", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "A report that was signed for one cluster counts in another one.",
			Old:    "return append(binary.LittleEndian.AppendUint64([]byte(purpose), cluster), text...)", New: "return append(binary.LittleEndian.AppendUint64([]byte(purpose), 0*cluster), text...)",
		},
		{
			Name: "strangers/worm/any-key-speaks-for-a-member", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "Whoever listens at a member's address mutes a server, or makes it sure.",
			Old:    "if err != nil || from != a.member.ID {", New: "if err != nil || from == 0 {",
		},
		{
			Name: "strangers/worm/verdicts-of-other-lives", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "A verdict on an earlier report, sent again by anybody, makes a server sure.",
			Old:    "v.about != s.id || v.to != r.digest()", New: "v.about != s.id",
		},
		{
			Name: "strangers/worm/a-denial-is-not-reported", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "A server is mute, and its operator is not told.",
			Old:    "if f := s.opt.Warn; f != nil {", New: "if f := s.opt.Warn; f == nil {",
		},
		{
			Name: "strangers/worm/members-are-forgotten-for-strangers", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestManyStrangers",
			Breaks: "Whoever reports with many keys has a server forget what it has seen of members.",
			Old:    "if !s.registers.isPeer(old) {", New: "if old != s.id {",
		},
		{
			Name: "strangers/worm/a-restore-keeps-sightings", Kind: Stuck, In: "internal/worm/node", Packages: node, Run: "TestRestored",
			Breaks: "After a restore servers are held against what they did before it.",
			Old:    "\ts.witness.forget()\n\ts.commits.stage(recordCluster", New: "\ts.commits.stage(recordCluster",
		},
		{
			Name: "strangers/worm/the-verdict-is-forgotten", Kind: Lost, In: "internal/worm/node", Packages: node, Run: "TestUnsigned",
			Breaks: "A server that a member has found to be behind serves again after a restart.",
			Old:    "\ts.commits.stage(recordBehind, 0, []byte(w.rolledBack))\n", New: "",
		},
		{
			Name: "strangers/worm/any-description-will-do", Kind: Unguarded, In: "internal/worm/node", Packages: node, Run: "TestRestored",
			Breaks: "A directory is served as one of another cluster.",
			Old:    "case s.cluster != 0 && !slices.Contains(g.Restored, s.cluster):", New: "case s.cluster != 0 && slices.Contains(g.Restored, 0):",
		},
		{
			Name: "strangers/worm/old-clients-are-not-told", Kind: Stuck, In: "internal/worm/node", Packages: daemon, Run: "TestRestore",
			Breaks: "Clients that were there before a restore wait forever.",
			Old:    "if f := t.opt.Restored; f != nil && 2*n > len(t.peers) {", New: "if f := t.opt.Restored; f != nil && n < 0 {",
		},
		{
			Name: "strangers/worm/every-protocol-goes-on", Kind: Stuck, In: "internal/worm/group", Packages: []string{"internal/worm/space"}, Run: "TestMixedProtocols",
			Breaks: "What a client has written by a wrong protocol stops every change of members.",
			Old:    "return ok && !s.Trimmed && data(wor.One(s.Addr)) && s.Protocol != p", New: "return false && ok && !s.Trimmed && data(wor.One(s.Addr)) && s.Protocol != p",
		},
		{
			Name: "strangers/worm/metadata-are-not-asked", Kind: Lost, In: "internal/worm/space", Packages: []string{"internal/worm/space"}, Run: "TestMixedProtocols",
			Breaks: "Of a segment that is written by two protocols nothing goes on.",
			Old:    "if at.size > 0 && p.partition == c.old.Partition {", New: "if at.size > 1<<31 && p.partition == c.old.Partition {",
		},
		{
			Name: "strangers/worm/the-first-home-alone-is-skimmed", Kind: Lost, In: "internal/worm/space", Packages: []string{"cmd/ashlard/daemon", "internal/worm/space"}, Run: "TestMixedProtocols|TestWrongProtocols",
			Breaks: "Of several segments that are written by two protocols only one finds its metadata.",
			Old:    "if c.skim == nil {\n\t\t\tc.skim = skim{}\n\t\t}", New: "c.skim = skim{}",
		},
		{
			Name: "strangers/worm/later-configurations-are-not-read", Kind: Lost, In: "internal/worm/space", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestEverybodyReplaced",
			Breaks: "Who is given a description of now finds only the servers that there were in the beginning.",
			Old:    "for i := range o.Genesis.Known {", New: "for i := range o.Genesis.Known[:0] {",
		},
		{
			Name: "strangers/worm/no-room-for-keys", Kind: Stuck, In: "internal/worm/group", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestFullMemory",
			Breaks: "A log that fills the memory takes the keys and the takeovers with it.",
			Old:    "parts, small := int64(partsOthers), smallMax", New: "parts, small := int64(partsTakeover), smallMax",
		},
		{
			Name: "strangers/worm/refused-and-tried-again", Kind: Stuck, In: "worm/log", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestFullMemory",
			Breaks: "An append that servers have no room for goes on to the next address, forever.",
			Old:    "case a.refused != nil:", New: "case a.refused != nil && p.l.closed:",
		},
		{
			Name: "strangers/worm/segments-of-any-length", Kind: Stuck, In: "worm/log", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestFullMemory",
			Breaks: "A segment of a log ends after so many entries, however long they are, and cannot be trimmed until then.",
			Old:    "if r.now.bytes >= r.s.opt.SegmentBytes && r.next != nil {", New: "if r.now.bytes >= r.s.opt.SegmentBytes && r.next != nil && r.stopped {",
		},
		{
			Name: "strangers/worm/sealed-for-nobody", Kind: Stuck, In: "internal/worm/space", Packages: []string{"internal/worm/space"}, Run: "TestChangeToNobody",
			Breaks: "A partition is sealed for servers that are not there.",
			Old:    "c.muster()\n", New: "c.seal()\n",
		},
		{
			Name: "strangers/worm/a-server-takes-any-protocol", Kind: Unguarded, In: "internal/worm/group", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestWrongProtocols",
			Breaks: "A server that knows a segment's protocol takes writes by another one.",
			Old:    "!pinned && known && p != q.Protocol {", New: "!pinned && known && p != q.Protocol && q.Protocol > wor.Fast {",
		},
		{
			Name: "strangers/worm/segments-smaller-than-a-request", Kind: Stuck, In: "worm/log", Packages: []string{"bench/worm"}, Run: "TestSmoke",
			Breaks: "Segments are smaller than what a client fetches ahead, and what it has not used yet is decided without it.",
			Old:    "r.most = count\n\t\tr.size = max(r.size, min(4*count, r.s.opt.Size))", New: "_ = count",
		},
	}
}
