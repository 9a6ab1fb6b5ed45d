// SPDX-License-Identifier: Apache-2.0

package mutant

// Uses of the store other than single keys.

// iterOptionsMutants die beside a sorted array.
func iterOptionsMutants() []Mutant {
	options := func(name, in, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/iterate/" + name, Kind: WrongAnswer, In: in, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: "TestIterOptions",
		}
	}
	return []Mutant{
		options("a-prefix-of-ff-ends-nowhere", "store",
			"The end of a prefix of 0xff bytes wraps to zero.",
			"c < 0xff {", "c <= 0xff {"),
		options("new-bounds-are-not-those-of-the-tree", "store",
			"After SetBounds an iterator that is not parked goes on within the old bounds.",
			"it.lo, it.hi, it.place = lo, hi, nowhere\n\tif it.state != nil {", "it.lo, it.hi, it.place = lo, hi, nowhere\n\tif it.state == nil {"),
		options("new-bounds-keep-the-place", "store",
			"After SetBounds a parked iterator goes on from the key where it stood.",
			"it.lo, it.hi, it.place = lo, hi, nowhere", "it.lo, it.hi = lo, hi"),
		options("a-reverse-iterator-ends-at-the-wrong-end", "store",
			"A reverse iterator without a next key counts as one behind the greatest key.",
			"return it.move(it.prev, beforeFirst)", "return it.move(it.prev, afterLast)"),
		options("a-key-with-operands-alone-is-left-out", "internal/store/merge",
			"Backwards, an iterator over keys does not see keys that only have operands.",
			"case v.view.KeysOnly:\n\t\t\t\tv.exists = true", "case v.view.KeysOnly:"),
		options("keys-are-read-with-their-values", "store",
			"An iterator over keys reads the large values.",
			"if it.keysOnly {\n\t\treturn true\n\t}\n", ""),
	}
}

// ingestMutants die beside a map, beside readers and writers, and by losses of power at
// each operation of the disk.
func ingestMutants() []Mutant {
	ingest := func(name string, kind Kind, run, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/ingest/" + name, Kind: kind, In: "store", Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		ingest("the-journal-begins-one-number-early", Lost, "TestIngestCrashes",
			"Behind an ingest the journal begins at its number, which no change in the journal has.",
			"db.newMem(empty.number+1, i.seq+1,", "db.newMem(empty.number+1, i.seq,"),
		ingest("the-record-cache-keeps-what-was-replaced", WrongAnswer, "TestIngestAgainstAMap",
			"Reads of keys that an ingest has replaced are answered from the cache.",
			"db.cache.Clear()\n\terr := i.attach()", "err := i.attach()"),
		ingest("writers-do-not-wait", Lost, "TestIngestBesideOthers",
			"Changes are made while an ingest ends, behind its number in front of its superblock.",
			"\ts.held = true", "\ts.held = false"),
		ingest("the-number-stays-behind", WrongAnswer, "TestIngestAgainstAMap",
			"The store's numbers do not move to that of the ingest, so that no reader sees its records.",
			"\tw.seq = seq\n\tw.db.metrics.changes[message.Put] += records", "\tw.db.metrics.changes[message.Put] += records"),
		ingest("what-was-discarded-keeps-its-pages", Unsound, "TestIngestOnAFullDisk",
			"The branches of an ingest that failed stay in the file and in memory.",
			"for _, b := range i.out {\n\t\ti.db.discard(b)\n\t}\n", ""),
		ingest("a-checkpoint-without-memory-ends-it", Unsound, "TestIngestsWithoutMemory",
			"An ingest that finds no memory for its superblock stops the store.",
			"\tif n <= len(c.spare) {\n", "\tif false {\n"),
		ingest("the-same-key-twice", Unsound, "TestIngestAgainstAMap",
			"An ingest takes a key again.",
			"bytes.Compare(key, i.last) <= 0", "bytes.Compare(key, i.last) < 0"),
	}
}

// keyspaceMutants die beside maps, and by losses of power at each operation of the disk.
func keyspaceMutants() []Mutant {
	keyspace := func(name, in string, kind Kind, run, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/keyspace/" + name, Kind: kind, In: in, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		keyspace("a-drop-leaves-the-keys", "store", Unsound, "TestADropIsShort",
			"A drop removes the name alone, so that the keys take space forever.",
			"\tb.append(message.RangeDelete, k.lo, k.hi)\n", ""),
		keyspace("numbers-are-used-again", "store", WrongAnswer, "TestKeyspacesAgainstMaps",
			"A new keyspace gets the number of an older one, whose keys it shows.",
			"number := binary.BigEndian.AppendUint32(nil, last+1)", "number := binary.BigEndian.AppendUint32(nil, max(last, 1))"),
		keyspace("a-dropped-one-takes-changes", "store", Unsound, "TestKeyspacesAgainstMaps",
			"A batch that was made before a drop writes behind it.",
			"b.drops.dropped.Store(true)", ""),
		keyspace("one-of-another-db-is-taken", "store", Lost, "TestKeyspacesOfAnotherDB",
			"A batch with a keyspace of another DB goes to a number that no keyspace has here.",
			"\tif k.db != db {\n", "\tif k.name == \"\" {\n"),
		keyspace("a-refusal-is-forgotten", "store", Lost, "TestTheFirstKeyspaceWithoutRoom",
			"The first keyspace fails when a superblock says that there is one, and the default one takes its keys again.",
			"\t\t\ts.giveUp(db)\n\t\t\treturn err\n", "\t\t\t_ = db.checkpoint()\n\t\t\ts.on.Store(false)\n\t\t\ts.setClosed(db, false)\n\t\t\treturn err\n"),
		keyspace("half-a-beginning-is-enough", "store", WrongAnswer, "TestTheFirstKeyspaceAndTheOlderSuperblock",
			"A life that finds one superblock of a store with keyspaces makes one, and loses that superblock.",
			"s.half = s.on.Load() && older&table.Keyspaces == 0", "s.half = false"),
		keyspace("the-number-is-only-in-the-list", "store", WrongAnswer, "TestRepairWithoutTheListOfKeyspaces",
			"A repair that lost the list of keyspaces lets a new one have the keys of an older one.",
			"if all.Last() && len(all.Key()) >= spaceStart {", "if false {"),
		keyspace("the-default-one-shows-all", "store", WrongAnswer, "TestKeyspacesAgainstMaps",
			"An iterator of the default keyspace goes on into the others.",
			"if s.on.Load() && (hi == nil ||", "if s.on.Load() && (hi != nil &&"),
		keyspace("superblocks-do-not-say-so", "store", WrongAnswer, "TestKeyspacesAgainstMaps",
			"The mark of a store with keyspaces is not written.",
			"\tsuper.Features = db.spaces.features()\n", ""),
		keyspace("a-copy-does-not-say-so", "store", WrongAnswer, "TestKeyspacesAgainstMaps",
			"A copy of a store with keyspaces shows their keys as those of the default one.",
			", Features: db.spaces.features(),", ","),
		keyspace("a-repair-forgets-them", "store/repair", WrongAnswer, "TestKeyspacesAgainstMaps",
			"A repaired store shows the keys of keyspaces as those of the default one.",
			"\t\tr.super.Features |= s.Features\n", ""),
		keyspace("the-default-one-reaches-into-others", "store", Lost, "TestKeyspacesRefuse",
			"A range delete of the default keyspace may delete keyspaces.",
			"string(value) > message.Reserved", "string(key) > message.Reserved"),
		keyspace("a-transaction-seeks-the-default-one", "store", WrongAnswer, "TestTransactionsInKeyspaces",
			"A seek in a keyspace of a transaction goes to its end.",
			"return it.seekLT(append([]byte{}, it.base.space.stored(key)...))", "return it.seekLT(append([]byte{}, key...))"),
		keyspace("range-deletes-stay-above", "internal/store/trunk", Unsound, "TestADropIsShort",
			"The range delete of a drop stays in the upper levels of the trunk of an idle store.",
			"if (policy.Idle || policy.ManyTombstones) && policy.tombs(p) {", "if false {"),
	}
}
