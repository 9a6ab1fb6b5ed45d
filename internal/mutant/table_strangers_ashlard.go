package mutant

// strangersAshlardMutants are about what strangers, full disks and long runs did to
// ashlard and to what it hosts.
func strangersAshlardMutants() []Mutant {
	return []Mutant{
		{
			Name: "strangers/tx/rolled-is-an-abort", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "A transaction whose register an RM has closed with its segment is aborted though nobody wanted that.",
			Old:    "\t\t\tif e.metClosed(t, o) && starts > 1 {",
			New:    "\t\t\tif e.metClosed(t, o) && starts > startsMax {",
		},
		{
			Name: "strangers/tx/closed-registers-are-used-again", Kind: WrongAnswer, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "What is begun again is begun in the registers that are closed.",
			Old:    "\t\t\te.pools[t.Seats[i].RM].drop()",
			New:    "\t\t\t_ = e.pools[t.Seats[i].RM].left",
		},
		{
			Name: "strangers/tx/closed-register-is-voted-yes", Kind: Unsound, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "An RM votes YES in a segment that it has closed, after votes in the next one.",
			Old:    "\tif !seg.closed {\n\t\tv.Order",
			New:    "\tif seg != nil {\n\t\tv.Order",
		},
		{
			Name: "strangers/tx/closed-register-is-silent", Kind: Stuck, In: "worm/tx", Packages: []string{"worm/tx"},
			Breaks: "Nobody votes in a register that is closed, so that all who joined wait for their patience to end.",
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
	}
}
