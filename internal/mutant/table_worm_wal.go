// SPDX-License-Identifier: Apache-2.0

package mutant

// wormWalMutants are about the write-ahead log of a server of WormSpace.
func wormWalMutants() []Mutant {
	wal := []string{"store/wal"}
	return []Mutant{
		{
			Name: "worm/wal/commit-does-not-sync", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A record is acknowledged that only the cache has.",
			Old:    "	if err := l.seg.Sync(); err != nil {\n		return err\n	}\n",
			New:    "",
		},
		{
			Name: "worm/wal/acknowledged-before-it-is-written", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "The position counts records that wait for their write.",
			Old:    "	l.durable = w.upTo\n",
			New:    "	l.durable = l.appended\n",
		},
		{
			Name: "worm/wal/safe-is-a-hope", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Frames call durable what is written with them, so that a crash passes for rot.",
			Old:    "		end := l.pos + h.Padded()\n",
			New:    "		end := l.pos + h.Padded()\n		l.safe = h.Last()\n",
		},
		{
			Name: "worm/wal/nothing-is-called-safe", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "No frame testifies for those before it, so that rot passes for the end of the log.",
			Old:    "	l.safe = l.chain.Next - 1\n",
			New:    "",
		},
		{
			Name: "worm/wal/an-error-is-not-the-end", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "After a failed sync the next one acknowledges what the first has dropped.",
			Old:    "		return false, l.stop(err)\n	}\n	l.give(w)",
			New:    "		return false, err\n	}\n	l.give(w)",
		},
		{
			Name: "worm/wal/pending-has-no-bound", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "What waits for a slow disk takes all memory.",
			Old:    "	if l.waiting > 0 && l.waiting+bytes > l.opt.Pending {",
			New:    "	if false {",
		},
		{
			Name: "worm/wal/a-record-has-no-bound", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A record is taken that no segment was meant to hold.",
			Old:    "		if size > RecordMax {",
			New:    "		if false {",
		},
		{
			Name: "worm/wal/spare-memory-is-used-twice", Kind: NotAtomic, In: "store/wal", Packages: wal,
			Breaks: "Records are appended into the bytes that a Commit is writing.",
			Old:    "w.records, l.pending, l.spare = l.pending, l.spare[:0], nil",
			New:    "w.records, l.pending, l.spare = l.pending, l.pending[:0], nil",
		},
		{
			Name: "worm/wal/the-place-is-where-it-was-asked-for", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A checkpoint begins in the middle of a segment, which recovery cannot find.",
			Old:    "if kind == beginEntry || l.seg == nil",
			New:    "if l.seg == nil",
		},
		{
			Name: "worm/wal/the-superblock-comes-first", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A checkpoint counts before its state is written.",
			Old:    "\tif err := l.write(&w); errors.Is(err, errNoRoom) {",
			New:    "\tif w.last && l.checkpoint.place.Segment > 0 {\n\t\tl.finishCheckpoint()\n\t}\n\tif err := l.write(&w); errors.Is(err, errNoRoom) {",
		},
		{
			Name: "worm/wal/the-checkpoint-counts-with-its-last-piece-but-one", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A checkpoint counts when EndCheckpoint was called, while some of its state waits.",
			Old:    "w.last = l.checkpoint.ended && len(l.saved) == 0",
			New:    "w.last = l.checkpoint.ended",
		},
		{
			Name: "worm/wal/retired-before-the-superblock", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Segments are given back that the durable superblock leads to.",
			Old:    "	if err := l.top.put(next); err != nil {\n		return err\n	}\n	if err := l.journal.Retire(c.place.Segment - 1); err != nil {\n		return err\n	}\n",
			New:    "	if err := l.journal.Retire(c.place.Segment - 1); err != nil {\n		return err\n	}\n	if err := l.top.put(next); err != nil {\n		return err\n	}\n",
		},
		{
			Name: "worm/wal/the-place-is-retired", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "The segment in which a checkpoint begins is given back.",
			Old:    "l.journal.Retire(c.place.Segment - 1)",
			New:    "l.journal.Retire(c.place.Segment)",
		},
		{
			Name: "worm/wal/nothing-is-retired", Kind: Stuck, In: "store/wal", Packages: wal,
			Breaks: "The log grows forever.",
			Old:    "	if err := l.journal.Retire(c.place.Segment - 1); err != nil {\n		return err\n	}\n",
			New:    "",
		},
		{
			Name: "worm/wal/the-state-is-behind-what-comes-later", Kind: WrongAnswer, In: "store/wal", Packages: wal,
			Breaks: "Records that were appended after BeginCheckpoint count as before its place.",
			Old:    "beginEntry, l.checkpoint.number, l.appended)",
			New:    "beginEntry, l.checkpoint.number, l.durable)",
		},
		{
			Name: "worm/wal/a-piece-has-no-bound", Kind: Stuck, In: "store/wal", Packages: wal,
			Breaks: "The records of one Commit wait for the whole state to be written.",
			Old:    "n == 0 || len(l.saved[n-1]) >= l.opt.Piece",
			New:    "n == 0",
		},
		{
			Name: "worm/wal/the-superblock-is-not-synced", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A superblock is relied on that only the cache has; so is a generation.",
			Old:    "		if err := s.file.Sync(); err != nil {\n			return fmt.Errorf(\"sync %s: %w\", superName, err)\n		}\n",
			New:    "",
		},
		{
			Name: "worm/wal/both-copies-at-once", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "The second copy stays what it was, so that rot of the first leads to retired segments.",
			Old:    "for _, i := range []int{s.first, 1 - s.first} {",
			New:    "for _, i := range []int{s.first} {",
		},
		{
			Name: "worm/wal/the-older-copy-counts", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Of two superblocks the one with the smaller number is taken.",
			Old:    "case a.number < b.number:",
			New:    "case a.number > b.number:",
		},
		{
			Name: "worm/wal/a-damaged-copy-stays", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A damaged identity is not mended, and the second damage is the end.",
			Old:    "if i == s.first && s.mend {",
			New:    "if false {",
		},
		{
			Name: "worm/wal/superblocks-have-no-checksum", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A damaged superblock or identity is believed.",
			Old:    "want, found := checksumBut4(b, 8), binary.LittleEndian.Uint32(b[8:]); want != found {",
			New:    "want, found := checksumBut4(b, 8), binary.LittleEndian.Uint32(b[8:]); false {",
		},
		{
			Name: "worm/wal/a-later-version-is-damage", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Where a later program has written one copy, the other one is taken.",
			Old:    "	if errors.As(err, &later) {\n		return err\n	}\n	return &damage",
			New:    "	if errors.As(err, &later) && false {\n		return err\n	}\n	return &damage",
		},
		{
			Name: "worm/wal/a-new-file-is-not-synced", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "SUPER gets its name before its content is durable.",
			Old:    "	return f.Sync()\n",
			New:    "	return nil\n",
		},
		{
			Name: "worm/wal/names-are-not-synced", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A new log is gone with the name of its directory.",
			Old:    "		if dir = path.Clean(dir); dir == \".\" || dir == \"/\" {\n			return nil\n		}\n",
			New:    "		return nil\n",
		},
		{
			Name: "worm/wal/made-over-a-journal", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "A directory that has lost its SUPER passes for an empty one.",
			Old:    "if name == superName || journal.IsName(name) {",
			New:    "if name == superName {",
		},
		{
			Name: "worm/wal/made-over-a-log", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Format replaces the SUPER of a log that has no journal yet.",
			Old:    "if name == superName || journal.IsName(name) {",
			New:    "if journal.IsName(name) {",
		},
		{
			Name: "worm/wal/the-generation-is-not-written", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Two lives have the same generation, and a disk that was put back is not told from one that went on.",
			Old:    "	if err := l.top.put(next); err != nil {\n		return err\n	}\n	l.session",
			New:    "	l.top.super = next\n	l.session",
		},
		{
			Name: "worm/wal/the-generation-stays", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Opening a log does not make its generation grow.",
			Old:    "	next.generation++\n",
			New:    "",
		},
		{
			Name: "worm/wal/an-older-superblock-passes", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A SUPER that was put back is not told from the one that the journal belongs to.",
			Old:    "f.Flaw.OK() && g > found.generation {",
			New:    "false && g > found.generation {",
		},
		{
			Name: "worm/wal/no-lock", Kind: NotAtomic, In: "store/wal", Packages: wal,
			Breaks: "Two processes write one log.",
			Old:    "	lock, err := d.Lock(path.Join(dir, lockName))\n",
			New:    "	lock, err := d.Lock(path.Join(dir, lockName))\n	if err == nil {\n		lock.Close()\n	}\n",
		},
		{
			Name: "worm/wal/close-says-nothing", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "The loss of the last frames of a log that was closed passes for its end.",
			Old:    "closed, note := l.err == errClosed, l.err == nil && l.replayed",
			New:    "closed, note := l.err == errClosed, false",
		},
		{
			Name: "worm/wal/what-was-read-is-not-synced", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "Records count as durable that a life left in the cache which ended without the machine.",
			Old:    "	if err := l.journal.Sync(); err != nil {\n		return err\n	}\n",
			New:    "",
		},
		{
			Name: "worm/wal/the-tail-is-not-written-again", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "What a failed sync has left in the cache is read, counts as durable, and goes with the next loss of power.",
			Old:    "	if err := t.rewrite(l); err != nil {\n		return err\n	}\n",
			New:    "",
		},
		{
			Name: "worm/wal/the-tail-has-no-first-page", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "The frames of a segment are written again, but not the page that says which one it is.",
			Old:    "		off = 0 // the first page came with the first frame\n",
			New:    "",
		},
		{
			Name: "worm/wal/an-end-too-early-passes", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A journal that ends before what the superblock calls safe is taken as it is.",
			Old:    "	if end.Next-1 < from.safe {",
			New:    "	if false {",
		},
		{
			Name: "worm/wal/the-state-is-not-read", Kind: Lost, In: "store/wal", Packages: wal,
			Breaks: "After a checkpoint only the records since come back.",
			Old:    "	if from.checkpoint > 0 {",
			New:    "	if from.checkpoint > 1<<62 {",
		},
		{
			Name: "worm/wal/the-state-is-repeated", Kind: WrongAnswer, In: "store/wal", Packages: wal,
			Breaks: "Records of the state come back among the others too.",
			Old:    "		if kind != recordEntry {\n",
			New:    "		if kind > stateEntry {\n",
		},
		{
			Name: "worm/wal/an-unfinished-state-passes", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A checkpoint without end counts as far as it goes.",
			Old:    "	case err == nil:\n		err =",
			New:    "	case err == nil && false:\n		err =",
		},
		{
			Name: "worm/wal/records-of-the-state-are-not-counted", Kind: Unguarded, In: "store/wal", Packages: wal,
			Breaks: "A state that lacks records passes.",
			Old:    "number != from.checkpoint || n != entries {",
			New:    "number != from.checkpoint {",
		},
		{
			Name: "worm/wal/records-before-the-place-are-forgotten", Kind: WrongAnswer, In: "store/wal", Packages: wal,
			Breaks: "After a restart the position goes back by what is before the checkpoint.",
			Old:    "	records := from.records\n",
			New:    "	records := uint64(0)\n",
		},
	}
}
