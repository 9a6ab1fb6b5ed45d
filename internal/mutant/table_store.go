// SPDX-License-Identifier: Apache-2.0

package mutant

// What the store must not lose. The short crash suite kills most of these. A
// test of the package kills the others: the crash suite does everything in one
// goroutine, so no sync runs beside a flush, and few frames wait for a sync at
// the same time.
const crashTests = "TestCrashes$"

// crash makes a mutant that the crash suite must kill.
func crash(name, in string, kind Kind, breaks, before, after string) Mutant {
	return Mutant{
		Name: name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
		Packages: []string{"internal/evidence/store/explore"}, Run: crashTests, Short: true,
	}
}

// noError replaces a call whose error is checked.
const noError = "if err := error(nil); err != nil {"

// durabilityMutants are about premature syncs, superblocks and answers.
func durabilityMutants() []Mutant {
	return []Mutant{
		crash("store/durable/data-not-synced-before-superblock", "store", Lost,
			"A superblock may be durable before the branches and the table that it leads to.",
			"if err := db.files.data.Sync(); err != nil {\n\t\treturn db.stop(fmt.Errorf(\"checkpoint",
			noError+"\n\t\treturn db.stop(fmt.Errorf(\"checkpoint"),
		crash("store/durable/superblock-not-synced", "store", Lost,
			"A checkpoint answers before its superblock is durable.",
			"if err := db.files.data.Sync(); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tc.slot", noError+"\n\t\t\treturn err\n\t\t}\n\t\tc.slot"),
		crash("store/durable/journal-not-synced", "store", Lost,
			"Sync writes the journal and does not sync it.",
			"if err := j.log.Sync(); err != nil {", noError),
		crash("store/durable/large-values-not-synced-before-frames", "store", Lost,
			"A frame may be durable before the large value that it refers to.",
			"if err := db.files.data.Sync(); err != nil {\n\t\t\t\treturn db.stop(fmt.Errorf(\"sync %s before",
			noError+"\n\t\t\t\treturn db.stop(fmt.Errorf(\"sync %s before"),
		crash("store/durable/large-values-synced-for-the-first-frame-only", "store", Lost,
			"A large value that comes while frames wait to be written is taken for synced.",
			"if f.blobs {", "if f.blobs && j.synced == 0 {"),
		crash("store/durable/new-store-has-no-name", "store", Lost,
			"The name of a new data file is not synced.",
			"if err := db.files.disk.SyncDir(db.files.dir); err != nil {", noError),
		crash("store/durable/directory-of-a-new-store-has-no-name", "store", Lost,
			"The name of a new store's directory is not synced.",
			"return db.files.disk.SyncDir(path.Dir(db.files.dir))", "return db.files.disk.SyncDir(path.Clean(db.files.dir))"),
		crash("store/durable/names-that-were-found-are-not-synced", "store", Lost,
			"Recovery relies on the names of files that an earlier life made and may not have synced.",
			"if err := r.syncFound(); err != nil {", noError),
		crash("store/durable/new-store-not-synced", "store", Lost,
			"A new data file gets its name before its superblock is durable.",
			"f.WriteAt(buf, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn f.Sync()", "f.WriteAt(buf, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn nil"),
		crash("store/durable/commit-does-not-wait", "store", Lost,
			"A store that is to be durable after every commit answers before.",
			"wait := w == Sync || db.opt.Durability == EveryCommit", "wait := w == Sync"),
		crash("store/durable/sync-of-a-commit-does-not-wait", "store", Lost,
			"Commit with Sync answers before the changes are durable.",
			"wait := w == Sync || db.opt.Durability == EveryCommit", "wait := db.opt.Durability == EveryCommit"),
		crash("store/durable/one-change-too-many-is-durable", "store", Lost,
			"Sync takes the change after the last durable one for durable too.",
			"if d.reached >= seq {", "if d.reached+1 >= seq {"),
		crash("store/durable/checkpoint-says-too-much", "store", Lost,
			"A checkpoint takes changes for durable that are not in its tree.",
			"db.durable.reach(f.cut)", "db.durable.reach(f.cut + 8)"),
		{
			Name: "store/durable/a-failed-sync-is-tried-again", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestAFailedSync",
			Breaks: "After a sync of the data file that failed the store goes on, as if the next one would do.",
			Old:    "return db.stop(fmt.Errorf(\"checkpoint: sync %s: %w\", datafile.Name, err))",
			New:    "return fmt.Errorf(\"checkpoint: sync %s: %w\", datafile.Name, err)",
		},
		{
			Name: "store/durable/recovery-does-not-sync", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestAnUnsynced",
			Breaks: "Recovery builds upon a superblock that may not be durable.",
			Old:    "if err := db.files.data.Sync(); err != nil {\n\t\treturn fmt.Errorf(\"sync %s: %w\", datafile.Name",
			New:    noError + "\n\t\treturn fmt.Errorf(\"sync %s: %w\", datafile.Name",
		},
		{
			Name: "store/durable/a-found-superblock-is-relied-on", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "Frames are written, and called durable, that rely on a superblock which the disk may not have.",
			Old:    "cmp.Or(db.err(), db.settleFound())",
			New:    "cmp.Or(db.err(), error(nil))",
		},
		{
			Name: "store/durable/a-superblock-without-room-counts", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "After one try without room, the superblock counts as written.",
			Old:    "if err == nil {\n\t\ts.unsettled.Store(nil)",
			New:    "{\n\t\ts.unsettled.Store(nil)",
		},
		{
			Name: "store/durable/what-was-found-counts-as-durable", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "A Sync without a new change succeeds although the disk may not have the superblock.",
			Old:    "if db.space.isSettled() {\n\t\tdb.durable",
			New:    "{\n\t\tdb.durable",
		},
		{
			Name: "store/durable/the-witness-relies-on-a-found-superblock", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "The witness says that changes are durable which only a superblock has that the disk may not have.",
			Old:    " || !db.space.isSettled() || j.witness", New: " || j.witness",
		},
		{
			Name: "store/durable/a-flush-of-nothing-relies-on-a-found-superblock", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "A Flush that finds nothing to write succeeds although the disk may not have the superblock.",
			Old:    "return db.settleFound() // what", New: "return nil // what",
		},
		{
			Name: "store/durable/open-needs-room", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestOpenOnAFull",
			Breaks: "A store on a full disk that copies on write does not open.",
			Old:    "if errors.Is(err, env.ErrNoSpace) {\n\t\t\tdb.log.Warn(\"the disk has",
			New:    "if false {\n\t\t\tdb.log.Warn(\"the disk has",
		},
		crash("store/durable/superblock-to-the-same-slot", "store", Lost,
			"A superblock is written over the newest one.",
			"table.SuperAddr(1-c.slot)", "table.SuperAddr(c.slot)"),
		crash("store/durable/superblocks-do-not-take-turns", "store", Lost,
			"All superblocks of a life go to one slot.",
			"\t\tc.slot = 1 - c.slot\n", ""),
		crash("store/durable/recovery-mistakes-the-slot", "store", Lost,
			"After recovery the newest superblock is taken for the older one, and written over.",
			"= super, which, super.Epoch+1", "= super, 1-which, super.Epoch+1"),
		crash("store/durable/the-older-superblock-counts", "internal/store/table", Lost,
			"Of two superblocks recovery takes the older one.",
			"case sa.Seq >= sb.Seq:", "case sa.Seq <= sb.Seq:"),
		crash("store/durable/copy-not-synced", "store", Lost,
			"A copy is done before its superblock is durable.",
			"f.WriteAt(block, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn f.Sync()\n", "f.WriteAt(block, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n"),
		crash("store/durable/copy-has-no-name", "store", Lost,
			"The name of a copy is not synced.",
			"return cmp.Or(db.files.disk.SyncDir(dir), db.files.disk.SyncDir(path.Dir(dir)))", "return db.files.disk.SyncDir(path.Dir(dir))"),
	}
}

// recoveryMutants are about the contents of a superblock and their use in
// recovery.
func recoveryMutants() []Mutant {
	return []Mutant{
		{
			Name: "store/recovery/cut-one-too-high", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestAgainstAMap|TestTheOlder",
			Breaks: "A superblock claims a change that its tree has not.",
			Old:    "cut: oldest.first - 1,",
			New:    "cut: oldest.first,",
		},
		crash("store/recovery/cut-one-too-low", "store", Lost,
			"A superblock asks the journal for a change that is in its tree.",
			"cut: oldest.first - 1,", "cut: max(oldest.first, 2) - 2,"),
		crash("store/recovery/segment-one-too-high", "store", Lost,
			"A superblock names the segment after the first that is needed.",
			"uint64(f.cut), f.oldest.number\n", "uint64(f.cut), f.oldest.number+1\n"),
		crash("store/recovery/chain-is-old", "store", Lost,
			"A superblock does not say what the journal's next frame follows.",
			"super.Chain, super.Life = chain, db.life.number()", "super.Life = db.life.number()"),
		crash("store/recovery/chain-of-a-recovered-segment-is-the-newest", "store", Lost,
			"For a memtable that recovery made, the end of the journal is taken for what its segment follows.",
			"if oldest.segment != nil || oldest.recovered {", "if oldest.segment != nil {"),
		crash("store/recovery/next-id-is-old", "store", Lost,
			"A superblock has the number of the last branch of the one before.",
			"oldest: oldest, lastID: db.tree.lastID(),", "oldest: oldest, lastID: c.super.NextID,"),
		crash("store/recovery/next-id-one-too-low", "store", Lost,
			"A superblock's last number of a branch or node is one too low.",
			"oldest: oldest, lastID: db.tree.lastID(),", "oldest: oldest, lastID: max(db.tree.lastID(), 1) - 1,"),
		crash("store/recovery/branch-left-out-of-the-table", "store", Lost,
			"New branches are not written to the table.",
			"\t\tt.changes.putBranch(b)\n", ""),
		crash("store/recovery/dropped-branch-stays-in-the-table", "store", Lost,
			"Branches that the tree has dropped stay in the table.",
			"\t\tt.changes.dropBranch(b.Meta.ID)\n", ""),
		{
			Name: "store/recovery/changed-node-left-out-of-the-table", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestATreeOfSeveralLevels",
			Breaks: "A node that has changed is not written to the table again.",
			Old:    "if old == n && (n == f.now) == (n == f.root) {", New: "if old != nil && (n == f.now) == (n == f.root) {",
		},
		{
			Name: "store/recovery/table-written-whole-keeps-the-old-chunks", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
			Breaks: "A superblock lists the chunks from before the table was written whole.",
			Old:    "\t\tsuper.Chunks = nil\n", New: "",
		},
		crash("store/recovery/the-last-change-is-asked-for-again", "store", Lost,
			"Recovery asks the journal for the last change of the tree instead of the one after it.",
			"message.Seq(r.super.Cut) + 1,", "message.Seq(max(r.super.Cut, 1)),"),
		crash("store/recovery/a-number-is-left-out", "store", Lost,
			"After recovery the numbers of changes have a gap, at which the journal's next reader stops.",
			"last := end.Next - 1", "last := end.Next"),
		crash("store/recovery/changes-of-the-future-are-visible", "store", WrongAnswer,
			"What was recovered last is not visible before the next change.",
			"w.seq = seq\n\tw.visible.Store(uint64(w.seq))", "w.seq = seq\n\tw.visible.Store(uint64(max(w.seq, 1) - 1))"),
		crash("store/recovery/memtables-in-the-wrong-order", "store", WrongAnswer,
			"Of several segments the oldest is read first.",
			"for i := len(mems) - 1; i >= 0; i-- {\n\t\tnewestFirst", "for i := range mems {\n\t\tnewestFirst"),
		{
			Name: "store/recovery/frames-are-not-cancelled", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestSyncBesideFlushes|TestAgainstAMap",
			Breaks: "Frames whose changes a checkpoint has made durable are written to the journal later.",
			Old:    "\tj.db.writer.cancelFrames(oldest.number - 1)\n",
			New:    "",
		},
		{
			Name: "store/recovery/frames-of-the-active-memtable-are-cancelled", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestSyncBesideFlushes",
			Breaks: "A checkpoint cancels the frames of a memtable that is not in its tree.",
			Old:    "j.db.writer.cancelFrames(oldest.number - 1)",
			New:    "j.db.writer.cancelFrames(oldest.number)",
		},
		{
			Name: "store/recovery/what-was-recovered-is-taken-for-synced", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestSyncOfAnEarlierLife",
			Breaks: "Recovery takes for durable what it has read in the journal.",
			Old:    "db.journal.resume(end, cut)\n\tif db.space.isSettled() {",
			New:    "cut = last\n\tdb.journal.resume(end, cut)\n\tif db.space.isSettled() {",
		},
		crash("store/recovery/batch-split-over-frames", "store", NotAtomic,
			"A batch may be in two frames, of which a crash keeps one.",
			"\t\tdb.writer.append(m, kind, key, value, left > 0)\n\t\treturn nil\n",
			"\t\tdb.writer.append(m, kind, key, value, left > 0)\n\t\tif m.frameCount == 1 && m.table.Pos()+b.room+8192 < len(m.arena) {\n\t\t\tdb.writer.closeFrame(m)\n\t\t}\n\t\treturn nil\n"),
		{
			Name: "store/recovery/last-frame-of-a-memtable-is-not-written", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestSyncBesideFlushes",
			Breaks: "When a memtable is full its open frame is forgotten.",
			Old:    "\tdb.writer.closeFrame(m)\n\tif db.opt",
			New:    "\tif db.opt",
		},
	}
}

// journalMutants are about segments, sessions, the chain, and finding the end
// of the journal.
func journalMutants() []Mutant {
	journal := []string{"internal/store/journal"}
	return []Mutant{
		crash("store/journal/new-file-has-no-name", "internal/store/journal", Lost,
			"The name of a new journal file is not synced.",
			"named := l.named\n", "named := true\n"),
		crash("store/journal/one-file-is-synced", "internal/store/journal", Lost,
			"Sync leaves out the segments before the one that is written.",
			"if s.unsynced && s.info.Number <= upTo {", "if s.unsynced && s.info.Number == upTo {"),
		{
			Name: "store/journal/what-was-recovered-is-not-synced", Kind: Lost, In: "internal/store/journal", Packages: []string{"internal/store/journal"}, Run: "TestWhatRecovery",
			Breaks: "Frames that an earlier life wrote and did not sync are taken for durable.",
			Old:    "s.state, s.unsynced = live, true",
			New:    "s.state, s.unsynced = live, false",
		},
		crash("store/journal/retired-too-early", "store", Lost,
			"A segment is given up whose changes are in no tree.",
			"db.journal.retire(before.Segment - 1)", "db.journal.retire(super.Segment)"),
		{
			Name: "store/journal/frame-is-durable-in-hope", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTailsOfManyFrames",
			Breaks: "A frame calls those before it durable that are not, and so calls a torn end corrupt.",
			Old:    "Durable: j.synced,",
			New:    "Durable: f.first - 1,",
		},
		crash("store/journal/any-later-frame-is-a-witness", "internal/store/journal", Lost,
			"A frame behind a torn one is taken for proof that something durable is lost.",
			"if flaw.OK() && h.Durable >= missing {", "if flaw.OK() && h.First >= missing {"),
		{
			Name: "store/journal/rot-is-the-end", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestRot|TestALost|TestAStale",
			Breaks: "Where a frame of what was durable is damaged, the journal ends before it without a word.",
			Old:    "return r.cross(slots)", New: "return nil",
		},
		{
			Name: "store/journal/torn-frame-is-accepted", Kind: Unguarded, In: "internal/store/journal", Packages: []string{"internal/evidence/store/explore"}, Run: crashTests, Short: true,
			Breaks: "The checksum of a frame is not compared.",
			Old:    "if want != got {\n\t\treturn Step{", New: "if want != got && s.off < 0 {\n\t\treturn Step{",
		},
		{
			Name: "store/journal/header-checksum-skipped", Kind: Unguarded, In: "internal/store/journal", Packages: journal, Run: "TestEveryBit|TestHeaders|TestValues",
			Breaks: "The checksum of a frame's header is not compared, so that a value can pass for a header.",
			Old:    "binary.LittleEndian\n\tif got := le.Uint32(b[0:]); got != frameMagic {\n\t\treturn Header{}, Flaw{wrongMagic, frameMagic, uint64(got)}\n\t}\n\tif got := le.Uint16(b[4:]); got != frameVersion {\n\t\treturn Header{}, Flaw{wrongVersion, frameVersion, uint64(got)}\n\t}\n\twant, got := checksum(seed(store, offset/PageSize), b[:56]), le.Uint32(b[56:])\n\tif want != got {",
			New:    "binary.LittleEndian\n\tif got := le.Uint32(b[0:]); got != frameMagic {\n\t\treturn Header{}, Flaw{wrongMagic, frameMagic, uint64(got)}\n\t}\n\tif got := le.Uint16(b[4:]); got != frameVersion {\n\t\treturn Header{}, Flaw{wrongVersion, frameVersion, uint64(got)}\n\t}\n\twant, got := checksum(seed(store, offset/PageSize), b[:56]), le.Uint32(b[56:])\n\tif want != got && store == 0 {",
		},
		{
			Name: "store/journal/first-page-checksum-skipped", Kind: Unguarded, In: "internal/store/journal", Packages: journal, Run: "TestEveryBit|TestHeaders|TestVersion1",
			Breaks: "The checksum of a segment's first page is not compared.",
			Old:    "if want, got := checksum(seed(store, 0), b[:40]), le.Uint32(b[40:]); want != got {",
			New:    "if want, got := checksum(seed(store, 0), b[:40]), le.Uint32(b[40:]); want != got && store == 0 {",
		},
		{
			Name: "store/journal/session-of-a-frame-ignored", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestWhatDoesNot|TestSessions|TestAFrame",
			Breaks: "A frame of another life that is left in the file is taken for one of this segment.",
			Old:    "case h.Session != s.in.Session:", New: "case h.Session != s.in.Session && s.off == 0:",
		},
		{
			Name: "store/journal/session-changes-without-a-start", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestWhatDoesNot|TestSessions|TestAFrame",
			Breaks: "The frames of another life continue the chain where that life did not begin.",
			Old:    "case !h.Start && h.Session != s.chain.Session:", New: "case !h.Start && h.Session != s.chain.Session && s.off == 0:",
		},
		{
			Name: "store/journal/chain-ignored", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestWhatDoesNot|TestSessions|TestAFrame",
			Breaks: "A frame is not compared with the one that it was written after.",
			Old:    "case h.Prev != s.chain.Prev:", New: "case h.Prev != s.chain.Prev && s.off == 0:",
		},
		{
			Name: "store/journal/chain-of-a-segment-ignored", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestEnterRefuses",
			Breaks: "A segment is not compared with the frame that it was begun after.",
			Old:    "case info.Prev != s.chain.Prev:", New: "case info.Prev != s.chain.Prev && s.off > 0:",
		},
		{
			Name: "store/journal/dead-segment-written-over-unsynced", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestADead|TestCrashes$",
			Breaks: "A segment that recovery gave up can come to life under what is written over it.",
			Old:    "if s.state == dead {", New: "if s.state == dead && l.next == 0 {",
		},
		{
			Name: "store/journal/retired-up-to-the-next", Kind: Lost, In: "internal/store/journal", Packages: journal, Run: "TestRetire",
			Breaks: "Retire gives up the segment after the one that it is told of.",
			Old:    "&& s.info.Number <= number {", New: "&& s.info.Number <= number+1 {",
		},
		{
			Name: "store/journal/older-superblock-has-no-journal", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
			Breaks: "Segments are given up that the older superblock needs.",
			Old:    "db.journal.retire(before.Segment - 1)", New: "db.journal.retire(super.Segment - 1)",
		},
		{
			Name: "store/journal/all-lives-have-one-session", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestLivesHaveSessions",
			Breaks: "Every life of a store has the same session.",
			Old:    "db.life.session = world.Random.Uint64()", New: "db.life.session = 1",
		},
	}
}

// spaceMutants are about pages that are reused too early.
func spaceMutants() []Mutant {
	older := func(name, breaks, before, after string) Mutant {
		return Mutant{
			Name: name, In: "store", Kind: Lost, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
		}
	}
	return []Mutant{
		older("store/space/reused-one-checkpoint-early",
			"Pages that the older superblock refers to are used again.",
			"s.alloc.Release(seq - 1)", "s.alloc.Release(seq)"),
		{
			Name: "store/space/reused-two-checkpoints-early", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
			Breaks: "Pages that the newest superblock refers to are used again.",
			Old:    "s.alloc.Release(seq - 1)",
			New:    "s.alloc.Release(seq + 1)",
		},
		crash("store/space/dropped-pages-are-free-at-once", "store", Lost,
			"The pages of a branch that was merged are used again before a superblock says so.",
			"for _, r := range runs {\n\t\ts.alloc.Retire(r, s.frozen+1)", "for _, r := range runs {\n\t\ts.alloc.Free(r)"),
		crash("store/space/large-values-are-free-at-once", "store", Lost,
			"The pages of a large value that was overwritten are used again before a superblock says so.",
			"if s.likes.Unlike(r) {\n\t\ts.alloc.Retire(r, s.frozen+1)", "if s.likes.Unlike(r) {\n\t\ts.alloc.Free(r)"),
		{
			Name: "store/space/freeze-is-forgotten", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
			Breaks: "What is dropped while a checkpoint is written is taken for dropped before it.",
			Old:    "\tdb.space.freeze(f.seq)\n",
			New:    "",
		},
		{
			Name: "store/space/table-chunks-are-free-at-once", Kind: Lost, In: "store", Packages: []string{"store"}, Run: "TestTheOlderSuperblock",
			Breaks: "The pages of old table chunks are used again while the older superblock refers to them.",
			Old:    "\tdb.space.retire(old...)\n",
			New:    "\tfor _, r := range old {\n\t\tdb.space.Free(r)\n\t}\n",
		},
		older("store/space/older-superblock-is-not-kept",
			"After recovery the pages of the older superblock are free.",
			"\t\tr.keepOlder(older)\n", ""),
		crash("store/space/branch-not-reserved", "store", Lost,
			"After recovery the pages of the branches are free.",
			"if err := db.space.reserve(r); err != nil {\n\t\t\treturn &CorruptError{File: datafile.Name, Offset: r.Addr(), Branch",
			noError+"\n\t\t\treturn &CorruptError{File: datafile.Name, Offset: r.Addr(), Branch"),
		crash("store/space/table-not-reserved", "store", Lost,
			"After recovery the pages of the table are free.",
			"if err := db.space.reserve(extent.RunOf(c.Addr, int64(c.Len))); err != nil {", noError),
		crash("store/space/large-values-not-reserved", "store", Lost,
			"After recovery the pages of large values are free.",
			"\t\terr = s.reserve(r)\n", ""),
		crash("store/space/large-values-of-branches-not-counted", "store", Lost,
			"After recovery the branches that use a large value are not counted.",
			"if err := db.space.found(r); err != nil {\n\t\t\treturn", noError+"\n\t\t\treturn"),
		crash("store/space/large-values-of-the-journal-not-counted", "store", Lost,
			"After recovery the large values to which the journal refers are not counted.",
			"if err := r.db.space.found(run); err != nil {\n\t\t\t\tbad = err", noError+"\n\t\t\t\tbad = err"),
		crash("store/space/large-value-is-used-once", "internal/store/extent", Lost,
			"A large value is freed with the first of those who use it.",
			"count: known.count + 1}", "count: 1}"),
		crash("store/space/branch-does-not-use-its-large-values", "store", Lost,
			"A large value is freed with the memtable that it came from.",
			"if err := db.space.like(r); err != nil {", "if err := error(nil); err != nil || r.Pages == 0 {"),
	}
}

// checksumMutants are about data that is read from the disk and believed.
func checksumMutants() []Mutant {
	return []Mutant{
		crash("store/checksum/block-not-compared-with-its-fence", "internal/store/block", Unguarded,
			"The checksum of a block is not computed.",
			"if sum := Checksum(stored); sum != w.CRC {", "if sum := Checksum(stored); sum != w.CRC && len(stored) == 0 {"),
		{
			Name: "store/checksum/block-may-be-another", Kind: Unguarded, In: "internal/store/block", Packages: []string{"internal/store/block", "internal/store/branch"},
			Breaks: "A block with the right checksum that says it is another one is believed.",
			Old:    "if h.Want != w {", New: "if h.CRC != w.CRC {",
		},
		{
			Name: "store/checksum/index-not-compared", Kind: Unguarded, In: "internal/store/branch", Packages: []string{"internal/store/branch"}, Run: "TestCorruptIndex",
			Breaks: "The checksum of a branch's index is not compared.",
			Old:    "sum != meta.Index.CRC || sum != binary.LittleEndian.Uint32(image) {",
			New:    "sum != meta.Index.CRC && len(image) == 0 {",
		},
		{
			Name: "store/checksum/table-chunk-not-compared", Kind: Unguarded, In: "internal/store/table", Packages: []string{"internal/store/table"},
			Breaks: "A chunk of the table that is not the one the superblock means is believed.",
			Old:    "if crc := Checksum(b); crc != c.CRC {", New: "if crc := Checksum(b); crc != c.CRC && len(b) == 0 {",
		},
		{
			Name: "store/checksum/table-page-not-compared", Kind: Unguarded, In: "internal/store/table", Packages: []string{"internal/store/table"},
			Breaks: "The checksum of a page of the table is not compared.",
			Old:    "if want, found := checksumBut4(page, pageCRC), le.Uint32(page[pageCRC:]); want != found {",
			New:    "if want, found := checksumBut4(page, pageCRC), le.Uint32(page[pageCRC:]); want != found && i < 0 {",
		},
		{
			Name: "store/checksum/superblock-not-compared", Kind: Unguarded, In: "internal/store/table", Packages: []string{"internal/store/table"},
			Breaks: "A torn superblock is believed.",
			Old:    "if want, found := checksumBut4(b, superCRC), le.Uint32(b[superCRC:]); want != found {",
			New:    "if want, found := checksumBut4(b, superCRC), le.Uint32(b[superCRC:]); want != found && len(b) == 0 {",
		},
		crash("store/checksum/large-value-not-compared", "store", Unguarded,
			"The checksum of a large value is not compared.",
			"if crc := crc32.Checksum(dst[from:], db.crc); crc != ref.CRC {",
			"if crc := crc32.Checksum(dst[from:], db.crc); crc != ref.CRC && ref.Len == 0 {"),
		crash("store/checksum/superblock-that-cannot-be-read-is-torn", "store", Lost,
			"A superblock that the disk cannot read is taken for a torn one, and the store goes back to the other.",
			"return nil, fmt.Errorf(\"superblock %d: %w\", i, err)", "clear(slots[i])"),
	}
}

// treeMutants are about compactions and caches, and what readers see through
// them.
func treeMutants() []Mutant {
	return []Mutant{
		crash("store/tree/compaction-forgets-the-newest-branch", "store", Lost,
			"A compaction leaves out what the newest of its inputs has.",
			"for _, r := range j.Inputs {\n\t\tb := r.Branch\n", "for _, r := range j.Inputs[min(1, len(j.Inputs)-1):] {\n\t\tb := r.Branch\n"),
		{
			Name: "store/tree/deletes-dropped-above-the-bottom", Kind: Unsound, In: "store", Packages: []string{"store"}, Run: "TestDeletesStay",
			Breaks: "A compaction drops deletes above what they delete.",
			Old:    "Hi: j.Hi, Bottom: j.Bottom,",
			New:    "Hi: j.Hi, Bottom: true,",
		},
		crash("store/tree/range-deletes-dropped-above-the-bottom", "internal/store/merge", Unsound,
			"A compaction drops range deletes above what they delete.",
			"if i > 0 || !k.o.Bottom {", "if i > 0 {"),
		crash("store/tree/operands-are-merged-twice", "internal/store/merge", NotAtomic,
			"A compaction applies an operand twice.",
			"\t\tk.counts.Combined++\n\t\tk.skip()\n", "\t\tp.operand.older(p.key, m)\n\t\tk.counts.Combined++\n\t\tk.skip()\n"),
		{
			Name: "store/tree/compaction-ignores-snapshots", Kind: Unsound, In: "store", Packages: []string{"store"}, Run: "TestSnapshotStays",
			Breaks: "A compaction drops what a snapshot sees.",
			Old:    "for _, r := range j.Inputs {\n\t\tb := r.Branch\n",
			New:    "o.Snapshots = nil\n\tfor _, r := range j.Inputs {\n\t\tb := r.Branch\n",
		},
		{
			Name: "store/tree/flush-ignores-snapshots", Kind: Unsound, In: "store", Packages: []string{"store"}, Run: "TestSnapshotStays",
			Breaks: "A memtable that is written drops what a snapshot sees.",
			Old:    "Snapshots: db.views.seqs(), Merger: db.opt.Merger,",
			New:    "Merger: db.opt.Merger,",
		},
		crash("store/tree/older-branch-above-newer", "internal/store/trunk", Unsound,
			"A new branch is put below the ones that are there.",
			"p.Refs = append(clipped, p.Refs...)", "p.Refs = append(p.Refs[:len(p.Refs):len(p.Refs)], clipped...)"),
		{
			Name: "store/tree/stale-compaction-is-taken", Kind: Lost, In: "internal/store/trunk", Packages: []string{"internal/store/trunk"},
			Breaks: "The result of a compaction replaces what came to the pivot meanwhile.",
			Old:    "newer := p.Refs[:at]",
			New:    "newer := p.Refs[:0]",
		},
		{
			Name: "store/explore/each-part-counts-the-operations", Kind: WrongAnswer, In: "internal/evidence/store/explore", Packages: []string{"internal/evidence/store/explore"}, Run: "TestPartsAreTheWhole",
			Breaks: "The run of a seed, which all its parts make, is counted by each.",
			Old:    "if e.depth > 1 || e.x.o.Part == 0 {",
			New:    "if e != nil {",
		},
		{
			Name: "store/tree/record-cache-keeps-old-values", Kind: Unsound, In: "store", Packages: []string{"internal/evidence/store/explore"}, Run: "TestTheStoreIsAMap|TestHistories",
			Breaks: "What a memtable overwrites stays in the record cache.",
			Old:    "\tdb.uncache(m)\n",
			New:    "",
		},
		{
			Name: "store/tree/record-cache-ignores-range-deletes", Kind: Unsound, In: "store", Packages: []string{"store"}, Run: "TestRangeDeletesReach",
			Breaks: "What a range delete hides stays in the record cache.",
			Old:    "if m.table.RangeDeletes() > 0 {\n\t\tdb.cache.Clear()",
			New:    "if m.table.RangeDeletes() < 0 {\n\t\tdb.cache.Clear()",
		},
		{
			Name: "store/tree/record-cache-takes-the-value-below-merges", Kind: Unsound, In: "store", Packages: []string{"internal/evidence/store/explore"}, Run: "TestWhatOnceFailed",
			Breaks: "The record cache takes a value on which merges lie.",
			Old:    "return r.found && merges+r.hits == 1 && r.seq > cover, nil",
			New:    "return r.found && merges >= 0 && r.seq > cover, nil",
		},
		{
			Name: "store/tree/record-cache-takes-what-is-hidden", Kind: Unsound, In: "store", Packages: []string{"internal/evidence/store/explore"}, Run: "TestWhatOnceFailed",
			Breaks: "The record cache takes a value that a range delete of the same branch hides.",
			Old:    "&& merges+r.hits == 1 && r.seq > cover, nil",
			New:    "&& merges+r.hits == 1, nil",
		},
		{
			Name: "store/tree/snapshot-reads-the-record-cache", Kind: Unsound, In: "store", Packages: []string{"store"}, Run: "TestSnapshotsDoNot",
			Breaks: "A snapshot is answered from the cache of newest values.",
			Old:    "s.db.get(st, key, s.seq, dst, false, 0)",
			New:    "s.db.get(st, key, s.seq, dst, true, 0)",
		},
		{
			Name: "store/tree/flush-is-two-moments", Kind: NotAtomic, In: "store", Packages: []string{"store"}, Run: "TestMergesBesideAFlush",
			Breaks: "Readers meet a memtable both in memory and in the tree, and count its operands twice.",
			Old:    "\tdb.cache.Advance()\n\tdb.uncache(m)\n\tdb.mu.Lock()\n\tdb.tree.attach(out...)\n\tmems :=",
			New:    "\tdb.mu.Lock()\n\tdb.tree.attach(out...)\n\tdb.publish(db.current.Load().mems)\n\tdb.cache.Advance()\n\tdb.mu.Unlock()\n\tdb.uncache(m)\n\tdb.mu.Lock()\n\tmems :=",
		},
		{
			Name: "store/tree/operands-on-a-record-of-a-newer-tree", Kind: NotAtomic, In: "store", Packages: []string{"store"}, Run: "TestATreeThat",
			Breaks: "A reader that has met operands in a memtable asks the record cache, which may have them already.",
			Old:    "latest = latest && !operands", New: "_ = operands",
		},
		{
			Name: "store/tree/old-reader-fills-the-record-cache", Kind: Unsound, In: "internal/store/cache", Packages: []string{"internal/store/cache"},
			Breaks: "A reader that saw an older tree puts its record into the cache.",
			Old:    "if version != c.version.Load() || ", New: "if version > c.version.Load() || ",
		},
	}
}
