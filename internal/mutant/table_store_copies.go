// SPDX-License-Identifier: Apache-2.0

package mutant

// copyMutants are about the outputs of a store: copies, increments, changes.
func copyMutants() []Mutant {
	return append(append(streamMutants(), historyMutants()...), archiveMutants()...)
}

// historyMutants are about the changes that a store keeps for readers.
func historyMutants() []Mutant {
	history := func(name string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/history/" + name, In: "store", Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		history("what-a-crash-left-counts", Lost,
			"Changes that a crash took back are in the history of the next life.",
			"if store != db.life.store || s.last > cut ||", "if store != db.life.store ||", "TestChangesAgainstAList|TestCrashesOfHistory"),
		history("verify-leaves-it-out", Unguarded, "A store is called sound though its history is damaged.",
			"failed = db.examineHistory(ctx, s, &report, rest)", "failed = rest(0)", "TestDamagedHistory"),
		history("a-lost-file-is-no-gap", Unguarded, "Verify does not report changes that the history lacks.",
			"if s.first > next &&", "if s.first > next+1<<20 &&", "TestVerifyFindsGapsInAHistory"),
		history("the-newest-file-is-not-missed", Unguarded, "Verify does not report that the history lacks the newest changes.",
			"segment{first: newest + 1})", "segment{})", "TestVerifyFindsGapsInAHistory"),
		history("a-file-that-is-gone-was-removed", Unguarded, "Verify takes a file that is gone for one that was removed since it was too old.",
			"case errors.Is(err, fs.ErrNotExist) && db.history.has(s):", "case false:", "TestVerifyFindsGapsInAHistory"),
		{
			Name: "store/history/a-repair-gives-it-up", In: "store/repair", Kind: Lost,
			Breaks: "Because a file of the history is damaged, a repair writes the whole store anew, without a history.",
			Old:    `if errors.As(p, &at) && strings.HasPrefix(path.Base(at.File), datafile.HistoryPrefix) {`, New: "if errors.As(p, &at) && false {",
			Packages: []string{"store"}, Run: "TestRepairLeavesAHistory",
		},
		history("superblock-before-the-history", Lost,
			"A segment of the history may be lost when the tree has its changes.",
			"\tif err == nil {\n\t\terr = f.Sync()\n\t}\n\tif err = errors.Join(err, f.Close()); err != nil {\n\t\treturn s, err",
			"\tif err = errors.Join(err, f.Close()); err != nil {\n\t\treturn s, err", "TestCrashesOfHistory"),
		history("what-is-not-durable-is-told", Unsound,
			"A feed has changes that a crash takes back.",
			"enough = e.Seq > limit || size", "enough = e.Seq > limit+1000 || size", "TestChangesAgainstAList"),
		history("batches-are-divided", WrongAnswer,
			"A feed does not say which changes were made together.",
			"Kind: kind}, more && w.db.history.on())", "Kind: kind}, false)", "TestChangesAgainstAList"),
		history("large-values-hide-what-follows", WrongAnswer,
			"Changes between a large value and the next frame are missing in a feed.",
			"\t\tif enough {\n\t\t\tbreak", "\t\tif size >= feedBytes {\n\t\t\tbreak", "TestChangesAgainstAList"),
		history("the-bound-is-not-kept", Unsound,
			"The history of a store grows without bound.",
			"for sum > db.opt.History.Bytes {", "for sum > 2*db.opt.History.Bytes {", "TestSlowFeeds"),
		history("a-failure-stops-the-store", Unguarded,
			"A history that must have all, and fails once, ends all changes.",
			"return errors.Is(err, env.ErrNoSpace) || errors.As(err, &history)", "return errors.Is(err, env.ErrNoSpace) && !errors.As(err, &history)", "TestHistoryThatMustBeKept"),
		history("what-must-be-kept-is-not", Lost,
			"A history that must have all lacks what it could not write.",
			"if h.db.opt.History.Must && h.on() {", "if h.db.opt.History.Must && h.on() && false {", "TestHistoryThatMustBeKept"),
		history("readers-wait-for-ever", Unguarded,
			"The feed of a store that is open for reading only never ends.",
			"if f.db.opt.ReadOnly && f.next > f.db.durable.upTo() {", "if f.db.opt.ReadOnly && f.next > f.db.durable.upTo()+1e9 {", "TestFeedOfAReader"),
		{
			Name: "store/damage/keys-are-shown", In: "store", Kind: Unguarded,
			Breaks: "The text of an error has keys, which go into logs with it.",
			Old:    "e.Branch, e.Block, block.Masked(e.Lo), block.Masked(e.Hi))", New: "e.Branch, e.Block, e.Lo, block.Masked(e.Hi))",
			Packages: []string{"store"}, Run: "TestErrorsOfDamageShowNoKeys",
		},
		history("the-end-is-not-read", Unguarded,
			"Damage behind the last change of a segment is not found.",
			"if err := cmp.Or(f.in.end(), f.leave()); err != nil {", "if err := cmp.Or(nil, f.leave()); err != nil {", "TestDamagedHistory"),
	}
}

// archiveMutants are about archives and states of the past.
func archiveMutants() []Mutant {
	archive := func(name string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/archive/" + name, In: "store", Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		archive("batches-are-cut", NotAtomic,
			"A store that is restored to a change has a part of its batch.",
			"\t\t\tr.batch.Reset()\n\t\t\treturn true, nil", "\t\t\treturn true, r.db.Commit(r.batch, NoSync)", "TestEveryPointInTime"),
		archive("one-change-too-many", WrongAnswer,
			"A store that is restored to a change has the next one, too.",
			"if r.o.Until > 0 && c.Number > r.o.Until {", "if r.o.Until > 0 && c.Number > r.o.Until+1 {", "TestEveryPointInTime"),
		archive("files-may-be-missing", Unguarded,
			"An archive of which a file is missing is applied.",
			"if next := r.db.LastChange() + 1; uint64(s.first) > next {", "if next := r.db.LastChange() + 1; uint64(s.first) > next+1e9 {", "TestDamagedArchive"),
		archive("later-than-asked-for", WrongAnswer,
			"A store that is restored to a time has what was archived later.",
			"in.wall.After(r.o.UntilTime) {", "in.wall.After(r.o.UntilTime) && false {", "TestEveryPointInTime"),
		archive("named-before-durable", Lost,
			"A file of an archive may be cut by a crash, and the next call goes on behind it.",
			"\tif err == nil {\n\t\terr = f.Sync()\n\t}\n\tif err = errors.Join(err, f.Close()); err != nil {\n\t\treturn 0, err",
			"\tif err = errors.Join(err, f.Close()); err != nil {\n\t\treturn 0, err", "TestCrashesOfArchives"),
		archive("the-journal-has-the-rest", Lost,
			"A restore to a disk that fills leaves changes in a journal, which it removes.",
			"\t\terr = db.Flush()\n\t}\n\tdone = ", "\t}\n\tdone = ", "TestRestoreToADiskThatFills"),
		archive("foreign-archives-are-empty", Unguarded,
			"An archive that has nothing of the copied store is taken for one without changes.",
			"r.others = others; len(segments) == 0 {", "r.others = others; len(segments) == 0 && r.o.Until > 0 {", "TestArchiveOfAnotherStore"),
		archive("keyspaces-become-keys", WrongAnswer,
			"A store that is restored from a copy without keyspaces has none, but their keys.",
			"if in.spaces && isFirstKeyspace(c) {", "if in.spaces && isFirstKeyspace(c) && false {", "TestArchivedKeyspaces"),
		archive("anyone-may-add", Lost,
			"Two calls write one file of an archive at the same time.",
			"d, ok := disk.(env.LockDisk)\n\tif !ok {\n\t\treturn func() {}, nil", "d, ok := disk.(env.LockDisk)\n\tif ok {\n\t\treturn func() {}, nil", "TestArchivesAtTheSameTime"),
	}
}

func streamMutants() []Mutant {
	copies := func(name, in string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/copies/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		copies("a-place-is-a-branch", "store", Lost,
			"An increment leaves out a branch that stands where the former copy had another one.",
			"if before, ok := c.since.find(page); !ok || before != s {", "if _, ok := c.since.find(page); !ok {", "TestCopiesAgainstAMap"),
		copies("a-place-is-a-large-value", "store", Lost,
			"An increment leaves out a large value that stands where the former copy had another one.",
			"if s == before {", "if s == before || len(before) > 0 {", "TestCopiesAgainstAMap"),
		copies("what-is-checked-is-not-what-is-written", "store", Unguarded,
			"A page that the disk read wrongly for the copy, and rightly for the check, is in the copy.",
			"!ok || got != want {", "!ok {", "TestCopyFromADiskThatLies"),
		copies("large-values-are-not-checked", "store", Unguarded,
			"A large value that the disk read wrongly is in the copy.",
			"if err == nil && crc != ref.CRC {", "if err == nil && crc != ref.CRC && false {", "TestCopyFromADiskThatLies"),
		copies("pages-are-not-kept", "store", Lost,
			"The pages of a branch that a copy has still to write are used again.",
			"if k.users[meta.ID] == 0 {", "if k.users[meta.ID] >= 0 {", "TestCopyWhileWriting"),
		copies("pages-are-kept-for-good", "store", Unsound,
			"The pages of branches that were given up while a copy ran are never used again.",
			"c.db.kept.done(id); last {", "c.db.kept.done(id); last && false {", "TestSlowCopy"),
		copies("large-values-after-the-first-are-left-out", "store", Lost,
			"A copy has the large values of a branch as far as one reading of it goes.",
			"more = len(some) > 0", "more = false", "TestSlowCopy"),
		copies("any-increment-follows", "store", Unguarded,
			"An increment is applied to a copy that it was not made for.",
			"if r.which > 1 && (mark.store != r.mark.store || mark.base != r.mark.id) {", "if r.which > 1 && mark.store != r.mark.store {", "TestCopiesThatDoNotFollow"),
		copies("any-store-may-be-the-former", "store", Unguarded,
			"An increment since a copy of another store is made.",
			"if since.store != c.mark.store || since.number > c.mark.number {", "if since.number > c.mark.number {", "TestCopiesThatDoNotFollow"),
		copies("a-store-never-shrinks", "store", Lost,
			"An increment of a store whose file ends earlier than before cannot be restored.",
			"r.in, r.end = stream.NewReader(in), 0", "r.in = stream.NewReader(in)", "TestCopiesOfAShrinkingStore"),
		copies("a-restore-is-not-alone", "store", Lost,
			"A store that is opened while a restore makes one in its directory is overwritten.",
			"if d, ok := disk.(env.LockDisk); ok {", "if d, ok := disk.(env.LockDisk); ok && false {", "TestRestoreIsAlone"),
		copies("twins-have-one-name", "store", Unsound,
			"Two restores of one copy are the same store, and fill one archive with the changes of both.",
			"binary.LittleEndian.PutUint64(r.super.UUID[8*i:], random.Uint64())", "_ = i", "TestTwoStoresOfOneCopy"),
		copies("bytes-behind-a-copy", "store", Unguarded,
			"What stands behind the end of a copy is not looked at.",
			"return id, b[len(id):], r.over()", "return id, b[len(id):], nil", "TestDamagedCopies"),
		copies("sections-are-believed", "internal/store/stream", Unguarded,
			"A damaged section of a copy is restored.",
			"got := binary.LittleEndian.Uint32(head[12:]); got != crc {", "got := binary.LittleEndian.Uint32(head[12:]); got != crc && false {", "TestDamagedCopies"),
		copies("superblock-before-the-pages", "store", Lost,
			"A restored store has its superblock while its pages may still be lost.",
			"\tif err := r.file.Sync(); err != nil {\n\t\treturn err\n\t}\n\tif _, err := r.file.WriteAt(r.block, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn r.file.Sync()",
			"\t_, err := r.file.WriteAt(r.block, table.SuperAddr(0))\n\treturn err", "TestCrashesOfRestore"),
		copies("restored-and-not-read-again", "store", Unguarded,
			"A store is called restored whose pages the disk has not written.",
			"return r.mark, examineFile(ctx, world, name, o)", "return r.mark, nil", "TestRestoreToADiskThatLies"),
	}
}
