// SPDX-License-Identifier: Apache-2.0

package mutant

// What applications use the store for beside single keys.

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
			"v.exists = true\n\t\t\t\tbreak", "break"),
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
			"The store's numbers do not move to that of the ingest, so that nobody sees its records.",
			"\tw.seq = seq\n\tw.db.metrics.changes[message.Put] += records", "\tw.db.metrics.changes[message.Put] += records"),
		ingest("what-was-discarded-keeps-its-pages", Unsound, "TestIngestOnAFullDisk",
			"The branches of an ingest that failed stay in the file and in memory.",
			"for _, b := range i.out {\n\t\ti.db.discard(b)\n\t}\n", ""),
		ingest("the-same-key-twice", Unsound, "TestIngestAgainstAMap",
			"An ingest takes a key again.",
			"bytes.Compare(key, i.last) <= 0", "bytes.Compare(key, i.last) < 0"),
	}
}
