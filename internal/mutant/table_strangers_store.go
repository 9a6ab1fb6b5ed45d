// SPDX-License-Identifier: Apache-2.0

package mutant

import "slices"

// strangersStoreMutants are about problems that outsiders found in the store:
// short memory, full disks, unreported damage.
func strangersStoreMutants() []Mutant {
	return slices.Concat(pressureMutants(), rotMutants(), witnessMutants(), besideMutants(), fullMutants(), liftedMutants(), lockMutants())
}

// A process whose memory the kernel measures, and clients that know what they
// wrote, kill pressureMutants.
func pressureMutants() []Mutant {
	pressure := func(name, in string, kind Kind, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/pressure/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: "TestUnderPressure",
		}
	}
	return []Mutant{
		pressure("what-is-needed-is-refused", "internal/store/slab", Stuck,
			"Where nothing can be freed, a flush or a read fails for want of memory.",
			"if !ok && answer == Exceed {", "if !ok && answer > Refuse {"),
		pressure("iterators-are-not-parked", "store", Unsound,
			"Iterators keep the memtables of their moment, however short memory is.",
			"if it.state != nil && (also || !it.moved) && it.visible.Err() == nil {", "if false {"),
		{
			Name: "store/pressure/parked-iterators-are-not-views", In: "store", Kind: WrongAnswer,
			Breaks: "A compaction drops what a parked iterator has still to find.",
			Old:    "\tv.addLocked(it.at)\n\tv.iterators", New: "\tv.iterators",
			Packages: []string{"store"}, Run: "TestParkedIteratorsGoOn",
		},
		pressure("memtables-take-all", "store", Unsound,
			"Memtables are begun while there is no memory to write those that wait.",
			"return held+memtable+memtable/4 > db.pool.Limit()-memtable-memtable/2", "return held < memtable-memtable"),
		pressure("range-deletes-fill-a-memtable", "store", Unsound,
			"A memtable takes range deletes until its arena is full.",
			"return max(db.opt.Tuning.MemtableBytes/2048, 256)", "return db.opt.Tuning.MemtableBytes"),
		{
			Name: "store/pressure/iterators-give-way-before-the-cache", In: "store", Kind: WrongAnswer,
			Breaks: "When memory is short, iterators are parked while the cache has memory.",
			Old:    "if have := db.cache.Budget(); have > 0 {", New: "if have := db.cache.Budget(); have > 0 && !db.views.park() {",
			Packages: []string{"store"}, Run: "TestTheCacheGivesWayFirst",
		},
		{
			Name: "store/pressure/tombstone-drops-what-an-iterator-sees", In: "internal/store/trunk", Kind: WrongAnswer,
			Breaks: "What a range tombstone covers is dropped, though an older view may still look at it.",
			Old:    "if seq == 0 || !policy.seen(seq) || i+1 == len(p.Refs) {", New: "if seq == 0 || i+1 == len(p.Refs) {",
			Packages: []string{"internal/store/trunk"},
		},
	}
}

// witnessMutants are about the page that records how far the store was durable.
// Damage of every sector, and all crashes among many witnesses, kill them.
func witnessMutants() []Mutant {
	witness := func(name, in string, kind Kind, breaks, before, after, run string, packages ...string) Mutant {
		return Mutant{
			Name: "store/witness/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after, Packages: packages, Run: run,
		}
	}
	const lost, own = "TestTheLossOfWhatWasSyncedLast", "TestOnlyTheStoresOwnWitness"
	return []Mutant{
		witness("in-a-hole", "store", Lost,
			"A store from before there were witnesses never gets the page, and the loss of its last Sync is not reported.",
			"\tdb.journal.placeWitness()\n", "", "TestTheWitnessOfAnOlderStore", "store"),
		witness("without-room", "store", Stuck,
			"A witness is written to a page without room, and the next sync stops the store.",
			"\tif !j.witness.off {\n", "\tif j != nil {\n", "TestAnOlderStoreWithoutRoom", "store"),
		witness("not-asked", "internal/store/journal", Lost,
			"The frames of the last sync are damaged, and the store opens in an older state without a word.",
			"if w := r.log.opt.Witness; w.Durable >= r.scan.Chain().Next {", "if w := r.log.opt.Witness; w.Durable > 1<<60 {",
			"TestRotIsTold", "internal/store/journal"),
		witness("one-message-is-not-missed", "internal/store/journal", Lost,
			"A loss of a single change is not noticed.",
			"if w := r.log.opt.Witness; w.Durable >= r.scan.Chain().Next {", "if w := r.log.opt.Witness; w.Durable > r.scan.Chain().Next {",
			"TestRotIsTold", "internal/store/journal"),
		witness("in-hope", "store", Lost,
			"The witness speaks of changes that were never synced, and so calls a torn end corrupt.",
			"datafile.EncodeWitness(buf, db.life.uuid, uint64(j.synced))", "datafile.EncodeWitness(buf, db.life.uuid, uint64(db.writer.seen()))",
			"TestWitnessesDoNotAccuse", "internal/evidence/store/explore"),
		witness("of-what-was-read", "store", Lost,
			"After recovery the witness speaks of frames that were found in the journal, and may be in the machine's cache only.",
			"db.journal.resume(end, cut)\n", "db.journal.resume(end, last)\n\tdb.journal.testify()\n",
			"TestWitnessesDoNotAccuse", "internal/evidence/store/explore"),
		witness("of-another-store", "internal/store/datafile", Unguarded,
			"The witness of another store counts.",
			"le.Uint32(b[8:]) != witnessChecksum(b), [16]byte(b[16:32]) != uuid:", "le.Uint32(b[8:]) != witnessChecksum(b):", own, "store"),
		witness("checksum-skipped", "internal/store/datafile", Unguarded,
			"A damaged witness counts.",
			"le.Uint32(b[8:]) != witnessChecksum(b), [16]byte", "[16]byte", own, "store"),
		witness("not-by-itself", "store", Lost,
			"The witness is written only when a caller waits.",
			"s.witnessWanted = true\n", "s.witnessWanted = false\n", "TestTheWitnessComes", "store"),
		witness("again-and-again", "store", Unguarded,
			"The witness is written although it has nothing new to say.",
			"!db.space.isSettled() || j.witness.says(j.synced) {", "!db.space.isSettled() {", "TestTheWitnessComes", "store"),
		witness("unknown-to-repair", "store/repair", Lost,
			"A repair does not report that what was synced last is lost.",
			"Witness: w, Direct", "Direct", lost, "store"),
	}
}

// Damage of every sector of a store, and a reader that knows what it must find,
// kill rotMutants.
func rotMutants() []Mutant {
	rot := func(name string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/rot/" + name, In: "store", Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run, Short: true,
		}
	}
	return []Mutant{
		rot("verify-without-the-journal", Unsound,
			"Verify does not look at large values that only the journal has.",
			"failed := db.examineMemtables(ctx, s, &report, rest)", "failed := error(nil)", "TestVerifySees"),
		rot("copies-are-not-read-again", Unsound,
			"A copy of a damaged store is called good.",
			"err = db.verifyCopy(s, f)", "err = nil", "TestVerifySees"),
		rot("a-sync-relies-on-earlier-frames", Lost,
			"The first sync of a life counts on frames that an earlier life failed to sync.",
			"for !db.files.direct && db.writer", "for db.files.direct && db.writer", "TestASyncDoesNotRely"),
		rot("a-superblock-is-believed", Lost,
			"A life acknowledges changes behind a superblock that an earlier one failed to sync.",
			"if !db.files.direct && !db.opt.ReadOnly {", "if db.files.direct && !db.opt.ReadOnly {", "TestALifeDoesNotRely"),
	}
}

// Processes that read beside others, and know what they must find, kill
// besideMutants.
func besideMutants() []Mutant {
	reader := func(name, in string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/reader/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		reader("readers-take-no-lock", "store", WrongAnswer,
			"A reader is let in beside a writer, which uses the pages again that it reads.",
			"LockShared(path.Join(db.files.dir, datafile.Lock))\n\tif errors.Is(err, fs.ErrNotExist) {", "LockShared(path.Join(db.files.dir, datafile.Lock))\n\tif err == nil {\n\t\terr = lock.Close()\n\t}\n\tif err != nil || ok {", "TestReadersBesideAWriter"),
		reader("readers-keep-each-other-out", "env/osenv/disk_unix.go", Stuck,
			"The lock of a reader keeps other readers out.",
			"how = unix.LOCK_SH", "how = unix.LOCK_EX", "TestReadersBesideAWriter"),
		reader("readers-must-be-able-to-write", "env/osenv", Stuck,
			"A store whose files cannot be written cannot be read.",
			"(errors.Is(err, fs.ErrPermission) || isReadOnly(err))", "isReadOnly(err)", "TestReadersBesideAWriter"),
		reader("a-world-without-a-disk", "internal/store/datafile", Unguarded,
			"A program that opens a store in a world without a disk panics.",
			"if disk == nil {", "if false {", "TestAWorldThatLacksSomething"),
	}
}

// Small disks that know how much they hold kill fullMutants.
func fullMutants() []Mutant {
	full := func(name, in, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/full/" + name, In: in, Kind: Stuck, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		full("puts-take-the-reserve", "store",
			"Puts use the room that flushes and merges need.",
			"have, want := s.alloc.FreePages()+s.alloc.RetiredPages(), s.kept(p)", "have, want := s.alloc.FreePages()+s.alloc.RetiredPages(), uint64(0)", "TestFullDiskIsEmptied"),
		full("puts-take-the-room-of-deletes", "store",
			"On a full disk there is room to merge, but none for a delete.",
			"return s.floor + s.keep + s.deletesShare()", "return s.floor + s.keep", "TestFullDiskIsEmptied"),
		full("merges-are-not-kept-for", "store",
			"What memtables become is written, but it cannot be merged.",
			"t.kept = upkeep{root: root, weight: w, pages: mergedPages(w.Newer, w.Pieces)}", "t.kept = upkeep{root: root, weight: w}", "TestFullDiskIsEmptied"),
		full("one-run-for-a-branch", "internal/store/branch",
			"A flush fails when the free pages do not lie together.",
			"for errors.Is(err, env.ErrNoSpace) && to-w.written > 1 {", "for errors.Is(err, env.ErrNoSpace) && count < 0 {", "TestFullDiskIsEmptied"),
		full("puts-do-not-look-for-space", "store",
			"What deletes gave back is not found by puts.",
			"did, failed = db.makeRoom(p)", "did = false", "TestFullDiskIsEmptied"),
		full("holes-are-forgotten", "store",
			"What recovery has found free, or an idle store has given back, is never used again.",
			"if s.dry == 0 || pages < s.dry {", "if false {", "TestFullDiskIsEmptied|TestHolesAreMadeAgain"),
		full("holes-are-taken-for-room", "store",
			"After a restart a delete is taken, and its flush finds holes for which the disk has no room.",
			"db.space.unknown()", "_ = db.space", "TestFullDiskIsEmptied|TestHolesOnAFullDisk"),
		full("sync-without-a-segment", "store",
			"A sync fails when the journal finds no room for another segment.",
			"upTo, err = seq, db.flushMems(false)", "upTo = 0", "TestFullDiskIsEmptied"),
		full("copies-have-holes", "store",
			"On a full disk a copy of a store cannot be emptied, as its free pages have no room.",
			"failed = cmp.Or(backGranules(f, r, super.Pages), db.copyRun(f, r, buf))", "failed = db.copyRun(f, r, buf)", "TestCopyOnAFullDisk"),
		full("a-damaged-block-is-the-error-of-a-put", "store",
			"On a full disk a put or a delete fails because a merge, which was to make room, meets a damaged block of other keys.",
			"return true, nil // not retried: the next call makes another merge", "return true, err", "TestFullDiskWithADamagedBlock"),
		full("a-shortage-of-memory-is-damage", "store",
			"A merge without memory to read its inputs is given up as if they were damaged.",
			"errors.Is(err, branch.ErrMemory) {\n\t\treturn out, err", "errors.Is(err, branch.ErrMemory) {\n\t\treturn out, readError{err}", "TestMergesWithoutMemory"),
		full("unreadable-inputs-are-tried-for-ever", "store",
			"A merge whose input cannot be read for want of room is made again and again.",
			"case read: // whatever", "case read && !errors.Is(err, env.ErrNoSpace): // whatever", "TestReadsWithoutRoom"),
		full("full-memtables-keep-what-was-granted", "store",
			"A full memtable keeps pages for records that it will never have, until it is flushed.",
			"m.keep = min(m.keep, db.memKeep(m.table.Pos(), m.table.Len()))", "m.keep = min(m.keep, db.memKeep(m.table.Pos(), 1<<20))", "TestFullMemtablesKeep"),
		full("puts-do-not-wait-for-flushes", "store",
			"A put is refused although the flush of a full memtable is due, and makes room.",
			"waiting, refused := len(db.current.Load().mems) > 1, db.tree.flushRefused()", "waiting, refused := false, db.tree.flushRefused()", "TestFullDiskIsEmptied"),
		full("callers-stop-at-the-first-merge-without-room", "store",
			"Where the most urgent merge has no room, callers do not make those that give back space.",
			"if err = db.run(j); r.add(db, j, err) {\n\t\terr = nil", "if err = db.run(j); r.add(db, j, err) {\n\t\treturn false, nil", "TestMergesThatGiveBack"),
		full("workers-stop-at-the-first-merge-without-room", "store",
			"Where the most urgent merge has no room, workers do not make those that give back space.",
			"\"error\", err)\n\t\tif r.add(db, j, err) {", "\"error\", err)\n\t\tif s == nil && r.add(db, j, err) {", "TestMergesThatGiveBack"),
		full("refused-merges-wake-the-other-workers", "store",
			"On a full disk two workers wake each other after merges that were refused, forever.",
			"if unreadable := (readError{}); err == nil ||", "if unreadable := (readError{}); true ||", "TestARefusedMergeWakesNobody"),
		full("wait-wakes-workers-that-have-nothing-to-do", "store",
			"Wait and the workers wake each other for as long as a flush takes.",
			"if s.working == 0 && (!s.trimmed ||", "if s.working == 0 && (true || !s.trimmed ||", "TestWaitSleeps"),
		full("compactions-stop-at-the-first-merge-without-room", "store",
			"A compaction that a user asks for leaves merges that have room behind one that has none.",
			"err := db.run(j)\n\t\tif r.add(db, j, err) {\n\t\t\tcontinue", "err := db.run(j)\n\t\tif r.add(db, j, err) {\n\t\t\treturn err", "TestCompactGoesOn"),
		full("compactions-are-silent-without-room", "store",
			"A compaction for which there was no room returns no error.",
			"return cmp.Or(db.checkpoint(), r.err)", "return db.checkpoint()", "TestCompactGoesOn"),
		full("compactions-are-silent-about-damage", "store",
			"A compaction that a user asks for leaves out what the background could not read, and returns no error.",
			"p.Skip = func(j *trunk.Job) bool { return r.skips(db, j) } // what", "// what", "TestMergesGoOnBesideADamagedBlock"),
		full("a-workers-merge-is-no-room", "store",
			"A put is refused although a merge of a worker has given back space while it looked for some.",
			"if db.tree.merges() != from {", "if db.tree.merges() < from {", "TestAWorkersMerge"),
		full("a-callers-merge-counts-as-done", "store",
			"Wait returns the error of a merge that has no room, although the merge of a caller may give back space.",
			"s.working == 1 && !db.tree.merging() {", "s.working == 1 {", "TestWaitDuringTheMergeOfACaller"),
		full("wait-wakes-workers-while-a-caller-merges", "store",
			"Wait and the workers wake each other for as long as a caller merges, each time for a merge without room.",
			"|| !db.tree.merging() && s.mergesDue", "|| s.mergesDue", "TestWaitDuringTheMergeOfACaller"),
		full("refused-merges-hide-the-others", "store",
			"On a full disk the first merge at the bottom without room is tried forever, and those behind it are not made.",
			"k.Bottom == j.Bottom && bytes.Equal(k.Lo, j.Lo) {", "k.Bottom == j.Bottom {", "TestRefusalsHideNoOther"),
		full("a-refused-put-rewrites-the-store", "store",
			"Where the reserve is used up, a put tries each merge before it is refused.",
			"return r.bottom && j.Bottom && !db.space.has", "return r.bottom && !j.Bottom && !db.space.has", "TestRefusalsHideNoOther"),
		full("a-refused-flush-is-the-error-of-a-delete", "store",
			"A delete is refused because its memtable finds no room, though merges could make some.",
			"if err := db.flushAll(false); !errors.Is(err, env.ErrNoSpace) {", "if err := db.flushAll(false); db != nil {", "TestChangesAreRefused"),
		full("an-input-without-room-to-read-is-no-damage", "store",
			"A merge whose input cannot be read for want of room counts as one that has no room to write.",
			"return errors.Is(err, env.ErrNoSpace) && !errors.As(err, &unreadable)", "return errors.Is(err, env.ErrNoSpace) && (!errors.As(err, &unreadable) || true)", "TestMergesReadWithoutRoom"),
		full("refusals-end-with-a-rest", "store",
			"On a full disk each wake of a worker, and each put that is refused, tries the merges again that were refused.",
			"t.refused[at] = append(list, r)", "_ = append(list, r)", "TestRefusedMergesAreTriedOnce"),
		full("refusals-are-of-a-place", "store",
			"A merge stays refused although deletes have come to its inputs.",
			"bytes.Equal(r.hi, j.Hi) &&\n\t\tslices.EqualFunc", "bytes.Equal(r.hi, j.Hi) ||\n\t\tslices.EqualFunc", "TestOtherInputsAreAnotherMerge"),
		full("refusals-last-for-ever", "store",
			"A merge that was refused is not made when there is room again.",
			"return room >= w.enough(floor) ||", "return room > 1<<40 || floor > 1<<40 ||", "TestRefusedMergesAreTriedOnce"),
		full("a-checkpoint-is-more-room", "store",
			"The pages that checkpoints give back to each other count as room, and merges are refused again and again.",
			"min(w.need, w.room+floor)) }", "min(w.need, w.room+floor)-floor) }", "TestCheckpointsAreNoRoom"),
		full("nobody-asks-for-room", "store",
			"Workers do not notice that a full disk has room again.",
			"\tdb.space.ask(forWork, work)\n\tdb.space.ask(forSpeed, speed)\n", "", "TestWorkersAskForRoom"),
		full("room-is-asked-for-without-end", "store",
			"After a full disk, each put makes the file longer, however many pages are free.",
			"db.space.ask(forWork, work)\n", "db.space.ask(forWork, db.space.room(forWork)+growMin)\n", "TestWhatWasRefusedAsksForNoMore"),
		full("a-refused-flush-is-tried-at-each-wake", "store",
			"On a full disk each wake of the flusher writes a part of the memtable again that was refused.",
			"if refused == nil {\n\t\treturn db.flushOldest()", "if refused == nil || room > 0 {\n\t\treturn db.flushOldest()", "TestARefusedFlush"),
		full("a-refused-flush-asks-nobody", "store",
			"A memtable that was refused is not written when the disk has room again.",
			"\tdb.space.ask(forTable, room)\n", "\t_ = room\n", "TestARefusedFlush"),
		full("a-refused-flush-is-refused-to-all", "store",
			"A caller who wants to know whether there is room waits for a flusher that does not try.",
			"func (t *tree) insistOnFlush() { t.unflushed = unflushed{} }", "func (t *tree) insistOnFlush() {}", "TestACallerInsists"),
		full("refusals-are-compared-with-all", "store",
			"A worker that looks for work compares each pivot with each refused merge.",
			"at := pivot{j.Level, string(j.Lo)}\n\tlist", "at := pivot{j.Level, \"\"}\n\tlist", "TestAskingForRefusalsIsCheap"),
		full("the-disk-is-asked-under-a-lock", "store",
			"While the disk looks for room at the end of the file, all calls wait that need a page.",
			"\t\tif err := f.Allocate(from, size-from); err != nil {\n\t\t\treturn err", "\t\ts.mu.Lock()\n\t\terr := f.Allocate(from, size-from)\n\t\ts.mu.Unlock()\n\t\tif err != nil {\n\t\t\treturn err", "TestNobodyWaitsForRoom"),
		full("space-is-given-back-under-a-lock", "store",
			"While the disk takes back what is free, all calls wait that need a page.",
			"if err := f.Discard(r.Addr(), r.Bytes()); err != nil {", "s.mu.Lock()\n\t\t\terr := f.Discard(r.Addr(), r.Bytes())\n\t\t\ts.mu.Unlock()\n\t\t\tif err != nil {", "TestNobodyWaitsForRoom"),
		full("a-change-asks-the-disk-under-a-lock", "store",
			"While the disk looks for room for a change, no reader can read.",
			"db.mu.Unlock()\n\t\t\t\t\terr := db.space.cover(short)", "err := db.space.cover(short)\n\t\t\t\t\tdb.mu.Unlock()", "TestNobodyWaitsForRoom"),
		full("a-store-is-closed-while-the-disk-is-asked", "store",
			"Close gives back the lock of the store while a put has the disk make its file longer.",
			"err := db.space.cover(short)\n\t\t\t\t\tdb.work.leave()", "db.work.leave()\n\t\t\t\t\terr := db.space.cover(short)", "TestCloseWaitsForTheDisk"),
		full("the-reserve-may-be-in-fragments", "store",
			"On a full disk whose free pages lie apart, no checkpoint finds a run for its table, and nothing is ever free again.",
			"if have < want || long < wantLong {", "if have < want {", "TestTheReserveHasLongRuns"),
		full("large-values-take-the-last-long-run", "store",
			"Large values take the long runs that are kept, and leave fragments.",
			"ok && long < before && long < s.keptLong(p) {", "ok && long < before && p == forWork && long < s.keptLong(p) {", "TestTheReserveHasLongRuns"),
		{
			Name: "store/full/retired-pages-stay-long", In: "internal/store/extent", Kind: Stuck,
			Breaks: "Pages that were retired and are free count as retired forever, and the reserve as larger than it is.",
			Old:    "\t\ta.retiredLong -= a.free.longIn(old.run)\n", New: "",
			Packages: []string{"internal/store/extent"}, Run: "TestAgainstABitmap",
		},
		full("refusals-that-are-known-are-no-error", "store",
			"Wait does not end, or returns no error, when all that is due was refused before.",
			"\t\tr.err = cmp.Or(r.err, err)\n\t\treturn true\n", "\t\treturn true\n", "TestWaitReturnsKnownRefusals"),
		full("checkpoints-for-each-step-of-a-merge", "store",
			"A merge that is refused makes checkpoints that cannot help it.",
			"if !spare && (j.Bottom || db.space.room(forSpeed) >= need) {", "if !spare {", "TestHopelessMergesMakeNoCheckpoints"),
		full("a-change-fails-with-a-merge-beside-it", "store",
			"A change that was made returns the memory shortage of a merge beside it.",
			"case errors.Is(err, ErrMemory) || errors.Is(err, errAborted):\n\t\t\treturn nil", "case errors.Is(err, ErrMemory) || errors.Is(err, errAborted):\n\t\t\treturn err", "TestMergesWithoutMemory"),
		full("refusals-outlast-a-merge-that-made-room", "store",
			"A merge that had no room is not made when another has given back space.",
			"if n := db.tree.merges(); r.merged != n {", "if n := db.tree.merges(); r == nil {", "TestMergesThatGiveBack"),
		{
			Name: "store/full/tight-is-ignored", In: "internal/store/trunk", Kind: Stuck,
			Breaks: "Without room, merges that only make reads shorter are still chosen before those that give back space.",
			Old:    " && (j.Bottom || !p.Tight)) {", New: ") {",
			Packages: []string{"internal/store/trunk"}, Run: "TestTightPolicies",
		},
		full("a-refused-write-is-tried-for-ever", "store",
			"On a disk that refuses to write pages that a file has, a put of a large value makes checkpoints without end.",
			" || errors.As(err, &refused) {", " || errors.As(err, &refused) && false {", "TestWritesThatAreRefused"),
	}
}

// Faults that end kill liftedMutants: refused operations are done again.
func liftedMutants() []Mutant {
	lifted := func(name, in, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/lifted/" + name, In: in, Kind: Stuck, Breaks: breaks, Old: before, New: after,
			Packages: []string{"internal/evidence/store/explore"}, Run: "TestAfterAFaultIsLifted", Short: true,
		}
	}
	return []Mutant{
		lifted("a-full-disk-stops-the-store", "store",
			"A flush or a checkpoint without room ends all changes, though there may be room again.",
			"what, explain(err))\n\tif mayPass(err) ||", "what, explain(err))\n\tif"),
		lifted("a-read-that-failed-stops-the-store", "store",
			"A merge that could not read an input once ends all changes.",
			"case read: // whatever", "case read && j == nil: // whatever"),
	}
}

// Locks taken in the wrong order kill lockMutants.
func lockMutants() []Mutant {
	order := func(name, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/order/" + name, In: "internal/invariant", Kind: Stuck, Breaks: breaks, Old: before, New: after,
			Packages: []string{"internal/invariant"},
		}
	}
	return []Mutant{
		order("equal-ranks-are-in-order",
			"Of two locks with the same rank two goroutines may each hold one and wait for the other.",
			"Check(other.rank < m.rank, ", "Check(other.rank <= m.rank, "),
		order("only-the-first-lock-counts",
			"Of the locks that a goroutine holds only the one that it took first is compared.",
			"for _, other := range locksOf(g) {", "for _, other := range locksOf(g)[:min(1, len(locksOf(g)))] {"),
		order("tried-locks-are-not-held",
			"What TryLock has locked does not count.",
			"if ok && m.rank > 0 {", "if ok && m.rank > 9 {"),
	}
}
