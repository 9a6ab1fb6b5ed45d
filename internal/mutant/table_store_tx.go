// SPDX-License-Identifier: Apache-2.0

package mutant

// transactionMutants die by histories that no serial order explains, and by single
// conflicts that are made by hand.
func transactionMutants() []Mutant {
	tx := func(name string, kind Kind, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/tx/" + name, Kind: kind, In: "store", Breaks: breaks, Old: before, New: after,
			Packages: []string{"internal/evidence/store/serial"}, Run: "TestSchedules$", Short: true,
		}
	}
	by := func(m Mutant, pkg, run string) Mutant {
		m.Packages, m.Run = []string{pkg}, run
		return m
	}
	in := func(m Mutant, pkg string) Mutant {
		m.In = pkg
		return m
	}
	return []Mutant{
		tx("keys-are-not-recorded", NotAtomic,
			"What a transaction reads by Get is no conflict.",
			"tx.reads.AddKey(key)\n\t", ""),
		tx("ranges-are-not-recorded", NotAtomic,
			"What a transaction reads by an iterator is no conflict.",
			"it.tx.reads.Add(it.seen)\n\t\t", ""),
		tx("the-end-of-a-range-is-not-recorded", NotAtomic,
			"A key that comes behind the last one of a range is no conflict.",
			"it.pass(passed)\n\tit.place, it.isBase", "it.place, it.isBase"),
		tx("open-iterators-are-not-recorded", NotAtomic,
			"What an iterator has read that is open at the Commit is no conflict.",
			"for it := range tx.iters {\n\t\tit.read()\n\t}\n\t", ""),
		tx("reads-are-of-now", NotAtomic,
			"A transaction reads what was committed after it began.",
			"return tx.snapshot.get(key, dst)", "return tx.db.getLatest(key, dst)"),
		tx("own-deletes-are-not-seen", WrongAnswer,
			"An iterator shows a key that the transaction has deleted.",
			"return it.own[it.at].Kind != message.Delete", "return true"),
		in(tx("own-range-deletes-are-not-seen", WrongAnswer,
			"A Get shows a key that the transaction has deleted by a range.",
			"if _, ok := w.deleted.Around(key); ok {", "if _, ok := w.deleted.Around(nil); ok {"), "internal/store/footprint"),
		tx("an-own-operand-hides-the-value", WrongAnswer,
			"An own operand is applied to nothing by an iterator.",
			"key, value, it.isBase, it.own[it.at].Value)", "key, value[:0], false, it.own[it.at].Value)"),
		tx("merges-are-no-changes", NotAtomic,
			"A merge of a key that was read is no conflict.",
			"if tx.reads.TouchedBy(m) {", "if m.Kind != message.Merge && tx.reads.TouchedBy(m) {"),
		in(tx("range-deletes-are-changes-of-one-key", NotAtomic,
			"A range delete touches its lower bound alone.",
			"if m.Kind == message.RangeDelete {", "if false {"), "internal/store/footprint"),
		in(tx("a-span-loses-its-last-key", NotAtomic,
			"Of a range that was read, the end is lost where ranges are joined.",
			"last.Hi = next.Hi", "last.Hi = last.Hi"), "internal/store/footprint"),
		tx("nothing-is-validated-before-the-lock", NotAtomic,
			"Changes before the Commit are not compared with what was read.",
			"err = tx.touchedBy(tails)\n\t\tdb.release(s)", "_ = tx.touchedBy(tails)\n\t\tdb.release(s)"),
		by(tx("the-present-is-to-be-reached-at-once", WrongAnswer,
			"A transaction conflicts when others change much, though no key that it has read, while it writes large values.",
			"for range validateTriesMax {", "for range 1 {"), "store", "TestChangesDuringEachWrite"),
		by(tx("a-comparison-holds-the-store", Unguarded,
			"While a transaction compares what it has read, what was replaced since is not freed.",
			"db.release(s) // a comparison may take long", "defer db.release(s) // a comparison may take long"), "store", "TestAComparisonHoldsNoState"),
		by(tx("nothing-is-validated-under-the-lock", NotAtomic,
			"A change between the validation and the commit is not found.",
			"err = valid() // after active", "_ = valid // after active"), "store", "TestAChangeWhileACommitWrites"),
		by(tx("validated-one-number-too-far", NotAtomic,
			"The first change after the snapshot is not found when it was flushed alone.",
			"if at.seq < s.newest() {", "if at.seq+1 < s.newest() {"), "store", "TestConflicts$"),
		by(tx("flushed-changes-are-forgotten", NotAtomic,
			"Changes whose memtables were flushed are no conflict.",
			"return nil, 0, false\n\t}\n\tfor _, m := range s.mems", "return nil, 0, true\n\t}\n\tfor _, m := range s.mems"), "store", "TestConflicts$"),
		by(tx("the-old-memtable-is-left-out", NotAtomic,
			"Changes in the memtable of the snapshot are not found when there is a newer one.",
			"if m.number < at.mem {", "if m.number < at.mem || m.number == at.mem && len(tails) > 0 {"), "store", "TestConflictsInSeveralMemtables"),
		by(tx("a-new-memtable-is-read-from-the-old-place", NotAtomic,
			"Changes at the beginning of a newer memtable are not found.",
			"if m.number == at.mem {\n\t\t\tfrom = at.pos", "if m.number >= at.mem {\n\t\t\tfrom = at.pos"), "store", "TestConflictsInSeveralMemtables"),
		by(tx("a-new-key-is-no-difference", NotAtomic,
			"When memtables were flushed, a key that is new at the end of a range is no conflict.",
			"case okNow:\n\t\treturn bytes.Clone(now.Key()), true, nil", "case okNow:\n\t\treturn nil, false, nil"), "store", "TestConflicts$"),
		by(tx("keyspaces-are-compared-as-the-default-one", NotAtomic,
			"When memtables were flushed, a key of a keyspace is looked for in the default one.",
			"now, errNow := later.get(key, nil)", "now, errNow := later.Get(key, nil)"), "store", "TestTransactionsOverKeyspaces"),
		by(tx("ranges-of-keyspaces-are-compared-as-the-default-one", NotAtomic,
			"When memtables were flushed, a range of a keyspace is looked for in the default one.",
			"was, err := tx.db.openIter(&Iterator{db: tx.db, lo: span.Lo, hi: span.Hi}, tx.snapshot.seq)",
			"was, err := tx.snapshot.Iter(span.Lo, span.Hi)"), "store", "TestTransactionsOverKeyspaces"),
		by(tx("a-seek-leaves-the-keyspace", WrongAnswer,
			"An iterator over a keyspace seeks the key of the default one.",
			"return it.seekGE(it.base.space.stored(key))", "return it.seekGE(key)"), "store", "TestTransactionsOverKeyspaces"),
		in(by(tx("a-tail-goes-through-gaps", NotAtomic,
			"What is between two frames of a memtable is read as a change.",
			"x.gaps[0].lo <= x.at", "x.gaps[0].lo < x.at"), "internal/store/memtable", "TestTail"), "internal/store/memtable"),
		by(tx("a-refused-change-is-left-out", NotAtomic,
			"A transaction commits without the change that was refused for want of memory.",
			"if tx.err != nil {\n\t\treturn tx.err\n\t}\n\t", ""), "store", "TestTransactionsAreBounded"),
		by(tx("memory-is-not-given-back", Stuck,
			"Transactions that have ended count against those to come.",
			"tx.db.txs.memory.Add(-tx.memory)\n\t", ""), "store", "TestTransactionsAreBounded"),
		by(tx("readers-conflict", Stuck,
			"A transaction that changes nothing is refused because of what it read.",
			"if tx.batch.Len() == 0 || len(tx.reads.All()) == 0 {", "if len(tx.reads.All()) == 0 {"), "store", "TestReadersHaveNoConflicts"),
	}
}
