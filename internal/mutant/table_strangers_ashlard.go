// SPDX-License-Identifier: Apache-2.0

package mutant

// strangersAshlardMutants are about the effects of strangers, full disks and long
// runs on ashlard and the services that it hosts.
func strangersAshlardMutants() []Mutant {
	return []Mutant{
		{
			Name: "strangers/tx/rolled-is-an-abort", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "A transaction whose register an RM has closed with its segment is aborted though no participant wanted that.",
			Old:    "\t\t\tif e.metClosed(t, o) && starts > 1 {",
			New:    "\t\t\tif e.metClosed(t, o) && starts > startsMax {",
		},
		{
			Name: "strangers/tx/closed-registers-are-used-again", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "What is begun again is begun in the registers that are closed.",
			Old:    "\t\t\te.pools[t.Slots[i].RM].drop()",
			New:    "\t\t\t_ = e.pools[t.Slots[i].RM].left",
		},
		{
			Name: "strangers/tx/closed-register-is-voted-yes", Kind: Unsound, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "An RM votes YES in a segment that it has closed, after votes in the next one.",
			Old:    "\tif !seg.closed {\n\t\tv.Order",
			New:    "\tif seg != nil {\n\t\tv.Order",
		},
		{
			Name: "strangers/tx/closed-register-is-silent", Kind: Stuck, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "No participant votes in a register that is closed, so that all that joined wait for their patience to end.",
			Old:    "\tcase s.take(a.Offset):\n\t\treturn s, answerOK\n\tcase s.closed:",
			New:    "\tcase !s.closed && s.take(a.Offset):\n\t\treturn s, answerOK\n\tcase s.closed:",
		},
		{
			Name: "strangers/keys/count-of-one-partition", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "The keys of the whole store are those of the partition that answered last.",
			Old:    "\t\t\t\tsum.Keys += keys",
			New:    "\t\t\t\tsum.Keys = keys",
		},
		{
			Name: "strangers/keys/prepared-is-not-counted", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "A key that was acknowledged is not counted, where its owner has not heard of the outcome yet.",
			Old:    "\t\tfor len(waiting) > 0 && !s.holds(waiting[0]) {",
			New:    "\t\tfor len(waiting) > 0 {",
		},
		{
			Name: "strangers/keys/deposed-owner-counts", Kind: Unsound, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "A server that has lost a partition, and does not know it, counts its keys.",
			Old:    "func(err error) { done(keys, err) }",
			New:    "func(error) { done(keys, nil) }",
		},
		{
			Name: "strangers/keys/count-overtakes", Kind: NotAtomic, In: "worm/resp", Packages: []string{"worm/resp"},
			Breaks: "DBSIZE does not count what was sent before it on the connection.",
			Old:    "\tif t.counts() && len(c.busy) > 0 {",
			New:    "\tif t.counts() && len(c.busy) > 1<<20 {",
		},
		{
			Name: "strangers/keys/count-is-overtaken", Kind: NotAtomic, In: "worm/resp", Packages: []string{"worm/resp"},
			Breaks: "DBSIZE counts what was sent after it on the connection.",
			Old:    "\t\tj.alone, c.barrier = true, true",
			New:    "\t\tj.alone = true",
		},
		{
			Name: "strangers/health/no-member-is-ready", Kind: WrongAnswer, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestReady", Breaks: "A server that is no member of the cluster says that it is ready.",
			Old: "\tserved := func(p node.PartitionStatus) bool { return p.Standing == wor.StatusOK && !p.Unsure }",
			New: "\tserved := func(p node.PartitionStatus) bool { return !p.Unsure }",
		},
		{
			Name: "strangers/health/believed-keys-are-ready", Kind: WrongAnswer, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestReady", Breaks: "A server that hosts keys is ready, though no majority is there to read them from.",
			Old: "\tcase !hosts.reachable:",
			New: "\tcase !hosts.reachable && len(hosts.Partitions) == 0:",
		},
		{
			Name: "strangers/node/unfinished-frames-are-not-summed", Kind: Unguarded, In: "internal/worm/node", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestUnfinishedFrames", Breaks: "Frames of which a part has come take as much memory as strangers like.",
			Old: "\tfor n.partial > s.opt.PartialMax {",
			New: "\tfor n.partial > s.opt.PartialMax<<8 {",
		},
		{
			Name: "strangers/node/frames-are-waited-for", Kind: Unguarded, In: "internal/worm/node", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestUnfinishedFrames", Breaks: "A frame that is never finished keeps its connection and its memory.",
			Old: "c.began.Add(c.s.opt.FrameWithin))",
			New: "c.began.Add(100*c.s.opt.FrameWithin))",
		},
		{
			Name: "strangers/front/commands-are-not-weighed", Kind: Unguarded, In: "worm/resp", Packages: []string{"worm/resp"},
			Breaks: "1,024 commands of any length wait for replies on one connection.",
			Old:    "\t\t\t\tj.size += len(a) + argBytes",
			New:    "\t\t\t\tj.size += min(len(a), 0) + argBytes",
		},
		{
			Name: "strangers/front/replies-are-not-weighed", Kind: Unguarded, In: "worm/resp", Packages: []string{"worm/resp"},
			Breaks: "Long replies of any number are asked for before the first of them is taken.",
			Old:    "(c.reply > 0 || c.flying < firstFlying)",
			New:    "(c.reply > 0 || c.flying < 1<<20)",
		},
		{
			Name: "strangers/front/idle-holds-its-place", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestIdleConnectionsMakeRoom", Breaks: "Idle connections keep all other clients out.",
			Old: "\treturn instead != nil, instead",
			New: "\treturn false, nil",
		},
		{
			Name: "strangers/front/slow-command-is-waited-for", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"},
			Run: "TestIdleConnectionsMakeRoom", Breaks: "A command of which a byte comes now and then is waited for.",
			Old: "SetReadDeadline(time.Now().Add(sendWithin))",
			New: "SetReadDeadline(time.Now().Add(100 * sendWithin))",
		},
		{
			Name: "strangers/wal/full-disk-ends-the-log", Kind: Stuck, In: "store/wal", Packages: []string{"store/wal"},
			Run: "TestFullDiskWaits", Breaks: "A disk without room for the next segment ends the log, and with it the server.",
			Old: "\tif errors.Is(err, env.ErrNoSpace) && l.journal.Err() == nil {",
			New: "\tif errors.Is(err, env.ErrNoSpace) && l.journal.Err() != nil {",
		},
		{
			Name: "strangers/wal/no-room-forgets", Kind: Lost, In: "store/wal", Packages: []string{"store/wal"},
			Run: "TestFullDiskWaits", Breaks: "What found no room is not written when there is room.",
			Old: "\tl.kept = w\n",
			New: "\tl.kept = work{some: true, upTo: w.upTo}\n",
		},
		{
			Name: "strangers/node/full-disk-is-failed", Kind: Stuck, In: "internal/worm/node", Packages: []string{"internal/worm/node"},
			Run: "TestFullDisk", Breaks: "A server whose disk is full ends as if its disk had failed.",
			Old: "\tif errors.Is(err, env.ErrNoSpace) && k.disk.Err() == nil {",
			New: "\tif errors.Is(err, env.ErrNoSpace) && k.disk.Err() != nil {",
		},
		{
			Name: "strangers/node/full-disk-takes-requests", Kind: Stuck, In: "internal/worm/node", Packages: []string{"internal/worm/node"},
			Run: "TestFullDisk", Breaks: "A server whose disk is full keeps clients waiting, instead of sending them to others.",
			Old: "return s.drain.underway() || s.failed != nil || s.commits.blocked() }",
			New: "return s.drain.underway() || s.failed != nil }",
		},
		{
			Name: "strangers/node/room-forgets-the-held", Kind: Stuck, In: "internal/worm/node", Packages: []string{"internal/worm/node"},
			Run: "TestRepliesHeld", Breaks: "What came while a commit found no room is durable with it, and its replies never leave.",
			Old: "\treturn k.disk.Waiting() || k.committed < k.appended",
			New: "\treturn k.disk.Waiting()",
		},
		{
			Name: "strangers/ashlard/the-key-is-open-to-others", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestDirectoryIsPrivate",
			Breaks: "Every user of a machine can read the key that a server signs with.",
			Old:    "const private = 0o700", New: "const private = 0o755",
		},
		{
			Name: "worm/client/a-refusal-is-not-recognized", Kind: WrongAnswer, In: "worm", Packages: []string{"worm"}, Run: "TestRefusedReplace",
			Breaks: "A user of the client cannot distinguish a replacement that was refused.",
			Old:    "var ErrRefused = space.ErrRefused", New: "var ErrRefused = errors.New(\"refused\")",
		},
		{
			Name: "worm/cluster/a-change-that-is-done-fails", Kind: WrongAnswer, In: "internal/cli/worm/cluster", Packages: []string{"internal/cli/worm/cluster"}, Run: "TestSettle",
			Breaks: "A change of members that is done ends with an error, because a look afterwards fails.",
			Old:    "\t\tif err != nil {\n\t\t\treturn parts, nil\n\t\t}\n", New: "\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n",
		},
		{
			Name: "worm/cluster/a-change-waits-beyond-its-time", Kind: WrongAnswer, In: "internal/cli/worm/cluster", Packages: []string{"internal/cli/worm/cluster"}, Run: "TestSettle",
			Breaks: "A command whose time is over looks on.",
			Old:    "\t\tcase <-ctx.Done():\n\t\t\treturn parts, nil\n", New: "",
		},
		{
			Name: "worm/cluster/an-interrupt-hides-the-outcome", Kind: WrongAnswer, In: "internal/cli/worm/cluster", Packages: []string{"internal/cli/worm/cluster"}, Run: "TestCodes",
			Breaks: "A script that interrupts a write is told nothing of whether it was done.",
			Old:    "\tcase errors.Is(err, wor.ErrUnknown):\n", New: "\tcase errors.Is(err, wor.ErrUnknown) && ctx.Err() == nil:\n",
		},
		{
			Name: "worm/cluster/commands-below-have-no-code", Kind: WrongAnswer, In: "internal/cli/worm/cluster", Packages: []string{"internal/cli/worm/cluster"}, Run: "TestCodes",
			Breaks: "An error of log or kv is answered as a wrong command line.",
			Old:    "\t\tcoded(cmd.Commands()...)\n", New: "",
		},
		{
			Name: "worm/ashlard/a-moved-command-is-unknown", Kind: WrongAnswer, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestMovedCommands",
			Breaks: "A command that ashlar has now is answered by ashlard as if there had never been one.",
			Old:    "\"read\", \"write\", \"trim\", ", New: "\"write\", \"trim\", ",
		},
		{
			Name: "strangers/redis/the-sum-is-not-bounded", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestSumOfCommands",
			Breaks: "Commands that wait on all connections of Redis together take twice what they may.",
			Old:    "frontBytesMax, frontShare = 128 << 20, 32 << 10", New: "frontBytesMax, frontShare = 256 << 20, 32 << 10",
		},
		{
			Name: "strangers/redis/one-host-takes-all", Kind: Unguarded, In: "cmd/ashlard/daemon", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestOneHostTakesItsPart",
			Breaks: "One host may have one connection of Redis more than its part.",
			Old:    "full := f.hosts[host] >= f.max-f.max/4", New: "full := f.hosts[host] >= f.max-f.max/8",
		},
		{
			Name: "strangers/redis/a-multi-of-any-length", Kind: Unguarded, In: "worm/resp", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestLongMulti",
			Breaks: "A MULTI queues commands without bound.",
			Old:    "len(c.queued) >= c.lim.Queue || ", New: "len(c.queued) >= 1<<30 || ",
		},
		{
			Name: "strangers/redis/a-multi-of-any-size", Kind: Unguarded, In: "worm/resp", Packages: []string{"cmd/ashlard/daemon"}, Run: "TestLongMulti",
			Breaks: "A MULTI queues bytes without bound.",
			Old:    "if c.bytes+j.size > c.lim.Command {", New: "if j.size > c.lim.Command {",
		},
	}
}
