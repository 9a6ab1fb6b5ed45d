// SPDX-License-Identifier: Apache-2.0

package mutant

// crashMutants are about the proved programs, the devices below them and the
// servers above them: crash tests must find by themselves what the proofs
// exclude.
func crashMutants() []Mutant {
	return append(append(append(logMutants(), diskMutants()...), mailMutants()...), procsMutants()...)
}

// procsMutants are about the code that judges processes.
func procsMutants() []Mutant {
	const procs = "internal/evidence/procs"
	return []Mutant{
		{
			Name: "procs/only-the-process-is-killed", Kind: Unguarded, In: procs, Packages: []string{procs}, Run: "TestNothingOutlives",
			Breaks: "What a process has started outlives the test.",
			Old:    "syscall.Kill(-p.cmd.Process.Pid, ", New: "syscall.Kill(p.cmd.Process.Pid, ",
		},
		{
			Name: "procs/a-part-is-a-line", Kind: WrongAnswer, In: procs, Packages: []string{procs}, Run: "TestLines", Short: true,
			Breaks: "A line that a process was killed in is taken for what it printed.",
			Old:    "if w.ended {\n\t\t\treturn \"\", false", New: "if w.ended {\n\t\t\treturn string(w.text[w.taken:]), w.taken < len(w.text)",
		},
		{
			Name: "procs/each-line-begins-anew", Kind: Unguarded, In: procs, Packages: []string{procs}, Run: "TestWaitsAreBounded", Short: true,
			Breaks: "A process that prints forever what the test does not wait for is waited for without end.",
			Old:    "defer p.bound(fmt.Sprintf(\"no line %q\", prefix))() // whatever other lines arrive\n\tfor {\n\t\tline, ok := p.next()",
			New:    "_ = fmt.Sprint(prefix)\n\tfor {\n\t\tline, ok := p.Next()",
		},
		{
			Name: "procs/the-number-is-anothers", Kind: Unguarded, In: procs, Packages: []string{procs}, Run: "TestTheNumberIsAnothers", Short: true,
			Breaks: "A test kills a process that has been given the number of one that has ended.",
			Old:    "if !p.reaped {", New: "if p.cmd != nil {",
		},
		{
			Name: "procs/cut-in-silence", Kind: Lost, In: procs, Packages: []string{procs}, Run: "TestMuchIsPrinted", Short: true,
			Breaks: "A test takes for never printed what was printed early.",
			Old:    "w.cut = true", New: "w.cut = false",
		},
	}
}

// crashRun are the tests on devices in memory, which see lost writes.
const crashRun = "^TestCrashes"

func logMutants() []Mutant {
	const wal, asyncwal, asynclog, group = "examples/wal", "examples/asyncwal", "examples/asynclog", "examples/groupcommit"
	return []Mutant{
		{
			Name: "wal/nothing-is-recovered", Kind: NotAtomic, In: wal, Packages: []string{wal}, Run: crashRun,
			Breaks: "A transaction that a crash interrupted after its commit is not finished.",
			Old:    "	install(d)\n	return", New: "	return",
		},
		{
			Name: "wal/header-first", Kind: NotAtomic, In: wal, Packages: []string{wal}, Run: crashRun,
			Breaks: "The header is written before the entries that it announces.",
			Old:    "	writeEntries(l.d, blocks)\n	l.d.Write(0, encodeHeader(addrs))",
			New:    "	l.d.Write(0, encodeHeader(addrs))\n	writeEntries(l.d, blocks)",
		},
		{
			Name: "wal/read-without-the-lock", Kind: NotAtomic, In: wal, Packages: []string{wal}, Run: crashRun,
			Breaks: "A read sees blocks of a transaction that is being installed.",
			Old:    "	l.mu.Lock()\n	b := l.d.Read(a)\n	l.mu.Unlock()", New: "	b := l.d.Read(a)",
		},
		{
			Name: "groupcommit/flush-outside-the-lock", Kind: Lost, In: group, Packages: []string{group}, Run: crashRun,
			Breaks: "A transaction that comes while others are written is dropped.",
			Old:    "	l.mu.Lock()\n	l.w.Commit(l.addrs, l.blocks)", New: "	l.w.Commit(l.addrs, l.blocks)\n	l.mu.Lock()",
		},
		{
			Name: "groupcommit/flush-piece-by-piece", Kind: NotAtomic, In: group, Packages: []string{group}, Run: crashRun,
			Breaks: "A flush makes one transaction for each change.",
			Old:    "	l.w.Commit(l.addrs, l.blocks)",
			New:    "	for i := range l.addrs {\n		l.w.Commit(l.addrs[i:i+1], l.blocks[i:i+1])\n	}",
		},
		{
			Name: "asyncwal/commit-over-a-log-that-counts", Kind: NotAtomic, In: asyncwal, Packages: []string{asyncwal}, Run: crashRun,
			Breaks: "The log is written while a crash may still bring back a header that says it counts.",
			Old:    "	l.disk.Barrier() // the header says durably that the log does not count\n", New: "",
		},
		{
			Name: "asyncwal/apply-before-the-header-is-durable", Kind: NotAtomic, In: asyncwal, Packages: []string{asyncwal}, Run: crashRun,
			Breaks: "The pair is written in place before it is durable that the log counts.",
			Old:    "	l.disk.Write(0, newHeader())\n	l.disk.Barrier()", New: "	l.disk.Write(0, newHeader())",
		},
		{
			Name: "asyncwal/header-with-the-log", Kind: NotAtomic, In: asyncwal, Packages: []string{asyncwal}, Run: crashRun,
			Breaks: "The header may be durable before the log that it speaks of.",
			Old:    "	l.disk.Barrier()\n	l.disk.Write(0, newHeader())", New: "	l.disk.Write(0, newHeader())",
		},
		{
			Name: "asyncwal/cleared-before-applied", Kind: NotAtomic, In: asyncwal, Packages: []string{asyncwal}, Run: crashRun,
			Breaks: "It may be durable that the log does not count before the pair is in place.",
			Old:    "	d.Write(4, b)\n	d.Barrier()\n", New: "	d.Write(4, b)\n",
		},
		{
			Name: "asynclog/commit-over-a-log-that-counts", Kind: NotAtomic, In: asynclog, Packages: []string{asynclog}, Run: crashRun,
			Breaks: "Entries are written while a crash may still bring back a header that announces others.",
			Old:    "	l.d.Barrier() // the header says durably that the log is empty\n", New: "",
		},
		{
			Name: "asynclog/cleared-before-applied", Kind: NotAtomic, In: asynclog, Packages: []string{asynclog}, Run: crashRun,
			Breaks: "It may be durable that the log is empty before its entries are in place.",
			Old:    "	d.Barrier()\n	d.Write(0, make", New: "	d.Write(0, make",
		},
	}
}

func diskMutants() []Mutant {
	const shadow, two, primitive = "examples/shadowcopy", "examples/replicateddisk", "goose/primitive"
	return []Mutant{
		{
			Name: "shadowcopy/selector-first", Kind: NotAtomic, In: shadow, Packages: []string{shadow}, Run: crashRun,
			Breaks: "The selector names a copy that is not written yet.",
			Old:    "	p.disk.Write(base, a)\n	p.disk.Write(base+1, b)\n	p.disk.Write(0, newSelector(base))",
			New:    "	p.disk.Write(0, newSelector(base))\n	p.disk.Write(base, a)\n	p.disk.Write(base+1, b)",
		},
		{
			Name: "shadowcopy/base-before-the-lock", Kind: NotAtomic, In: shadow, Packages: []string{shadow}, Run: crashRun,
			Breaks: "A write may fill the copy that has become current meanwhile.",
			Old:    "	p.mu.Lock()\n	base := 4 - p.base", New: "	base := 4 - p.base\n	p.mu.Lock()",
		},
		{
			Name: "replicateddisk/nothing-is-recovered", Kind: NotAtomic, In: two, Packages: []string{two}, Run: crashRun,
			Breaks: "The disks stay different after a crash, and a read after a failure goes back in time.",
			Old:    "	recoverAll(two, n)\n", New: "",
		},
		{
			Name: "replicateddisk/writes-meet", Kind: NotAtomic, In: two, Packages: []string{two}, Run: crashRun,
			Breaks: "Two writes may come to the two disks in different order.",
			Old:    "	mu.Lock()\n	d.two.Write(0, a, b)\n	d.two.Write(1, a, b)\n	mu.Unlock()",
			New:    "	_ = mu\n	d.two.Write(0, a, b)\n	d.two.Write(1, a, b)",
		},
		{
			Name: "primitive/failure-is-forgotten", Kind: Lost, In: primitive + "/disk", Packages: []string{primitive}, Run: "TestTwo",
			Breaks: "A disk that has failed is read again, with what it had when it failed.",
			Old:    "	p.failed.Store(int32(which))\n	return nil", New: "	return nil",
		},
		{
			Name: "primitive/failure-is-not-read-beside-a-lost-file", Kind: Lost, In: primitive + "/disk", Packages: []string{primitive}, Run: "TestTwo",
			Breaks: "That a disk has failed is not read where the file of the other is gone.",
			Old:    "		if other == nil {\n			continue", New: "		if other == nil || why[1-i] != nil {\n			continue",
		},
		{
			Name: "primitive/lists-in-pieces", Kind: NotAtomic, In: primitive + "/filesys", Packages: []string{primitive}, Run: "TestListsAreOfOneMoment",
			Breaks: "Names come and go while a directory is listed.",
			Old:    "		d.mu.RLock()\n		defer d.mu.RUnlock()\n		names, err = d.names()", New: "		names, err = d.names()",
		},
		{
			Name: "primitive/opened-disk-is-not-settled", Kind: Lost, In: primitive + "/disk", Packages: []string{primitive + "/disk"},
			Breaks: "A write that a killed process left is read, and a loss of power takes it back.",
			Old:    "	if err == nil {\n		err = f.Sync()\n	}\n	if err == nil {\n		err = d.dir.SyncDir",
			New:    "	if err == nil {\n		err = d.dir.SyncDir",
		},
		{
			Name: "primitive/panics-are-recovered", Kind: Unguarded, In: primitive + "/internal/halt", Packages: []string{primitive}, Run: "TestErrorsEndTheProcess",
			Breaks: "A program that recovers from panics goes on after an error of the disk.",
			Old:    "	go panic(failure)", New: "	panic(failure)",
		},
		{
			Name: "primitive/synced-bytes-are-lost-in-memory", Kind: WrongAnswer, In: primitive + "/mem", Packages: []string{primitive}, Run: "TestMemoryFSCrash",
			Breaks: "The file system in memory loses what was synced.",
			Old:    "		n.synced = len(n.data)\n	})", New: "		n.synced = len(n.data) / 2\n	})",
		},
		{
			Name: "primitive/synced-names-are-lost-in-memory", Kind: WrongAnswer, In: primitive + "/mem", Packages: []string{primitive}, Run: "TestMemoryFSCrash",
			Breaks: "The file system in memory loses names that were synced.",
			Old:    "			e.flush()", New: "			_ = e",
		},
	}
}

func mailMutants() []Mutant {
	const boat, server = "mail/mailboat", "cmd/mailboat"
	return []Mutant{
		{
			Name: "mailboat/message-is-not-synced", Kind: Lost, In: boat, Packages: []string{boat}, Run: crashRun,
			Breaks: "A message has its name before its bytes are durable.",
			Old:    "	m.fs.Sync(f)\n", New: "",
		},
		{
			Name: "mailboat/name-is-not-synced", Kind: Lost, In: boat, Packages: []string{boat}, Run: crashRun,
			Breaks: "Deliver returns before the name of the message is durable.",
			Old:    "	linkInto(m.fs, tmp, dir)\n	m.fs.SyncDir(dir)\n", New: "	linkInto(m.fs, tmp, dir)\n",
		},
		{
			Name: "mailboat/deletion-is-not-synced", Kind: Lost, In: boat, Packages: []string{boat}, Run: crashRun,
			Breaks: "A message that was deleted is back after a crash.",
			Old:    "	m.fs.Unlink(dir, id)\n	m.fs.SyncDir(dir)\n", New: "	m.fs.Unlink(dir, id)\n",
		},
		{
			Name: "mailboat/linked-before-it-is-written", Kind: NotAtomic, In: boat, Packages: []string{boat}, Run: crashRun,
			Breaks: "A part of a message can be picked up.",
			Old:    "	appendAll(m.fs, f, msg)\n	m.fs.Sync(f)\n	m.fs.Close(f)\n	linkInto(m.fs, tmp, dir)",
			New:    "	linkInto(m.fs, tmp, dir)\n	appendAll(m.fs, f, msg)\n	m.fs.Sync(f)\n	m.fs.Close(f)",
		},
		{
			Name: "mail/acknowledged-before-it-is-delivered", Kind: Lost, In: "cmd/mailboat", Packages: []string{server}, Run: "TestKilled",
			Breaks: "SMTP acknowledges a message that is not durable yet.",
			Old:    "			g.store.Deliver(user, message)", New: "			go g.store.Deliver(user, message)",
		},
		{
			Name: "mail/named-twice-delivered-twice", Kind: NotAtomic, In: "mail/smtp", Packages: []string{server}, Run: "TestMailGoesThrough",
			Breaks: "A user who is named twice as recipient has a message twice.",
			Old:    "	if !slices.Contains(s.to, user) {", New: "	if !slices.Contains(s.to[:0], user) {",
		},
		{
			Name: "mail/dots-are-not-doubled", Kind: WrongAnswer, In: "mail/pop3", Packages: []string{"mail/pop3"},
			Breaks: "A line that begins with a dot loses it, or ends the message.",
			Old:    "			x.out.WriteByte('.')", New: "",
		},
		{
			Name: "mail/mailbox-stays-locked", Kind: Stuck, In: "mail/pop3", Packages: []string{"mail/pop3"},
			Breaks: "The mailbox of a session that ends without QUIT cannot be read again.",
			Old:    "	defer x.close()\n", New: "",
		},
	}
}
