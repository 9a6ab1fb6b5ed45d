// SPDX-License-Identifier: Apache-2.0

package mutant

// operateMutants are mistakes in what a store tells those who operate it, and in what they
// may set while it runs.
func operateMutants() []Mutant {
	op := func(name string, kind Kind, in, run, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/operate/" + name, Kind: kind, In: in, Breaks: breaks, Old: before, New: after,
			Packages: []string{in}, Run: run, Short: true,
		}
	}
	return []Mutant{
		op("events-wait-for-the-program", Stuck, "store", "TestNotifyThatBlocks$",
			"A full queue of events grows for as long as Options.Notify does not return.",
			"case len(n.queue) >= NotifyQueueMax:", "case len(n.queue) >= 1<<30:"),
		op("lost-events-are-not-told", WrongAnswer, "store", "TestNotifyThatBlocks$",
			"Events are dropped, and the program is not notified of it.",
			"\t\tif n.lost == 0 {\n\t\t\treturn nil\n\t\t}\n", "\t\tif n.lost >= 0 {\n\t\t\treturn nil\n\t\t}\n"),
		op("a-panic-of-the-program-ends-it", Stuck, "store", "TestNotifyThatPanics$",
			"A panic of Options.Notify ends the process.",
			"if p := recover(); p != nil {", "if p := error(nil); p != nil {"),
		op("close-forgets-events", WrongAnswer, "store", "TestNotify$",
			"Events that wait when the store is closed are not passed on.",
			"\tn.inline()\n\tif ended == nil {", "\tif ended == nil {"),
		op("a-full-disk-is-an-event-each-time", WrongAnswer, "store", "TestNotifyOfTrouble$",
			"Every put that is refused is another DiskFull.",
			"if !db.full.Swap(true) {", "if db.full.Store(true); true {"),
		op("room-for-deletes-is-room", WrongAnswer, "store", "TestNotifyOfTrouble$",
			"A delete that succeeds on a full disk says that there is room again.",
			"\tif ok {\n\t\tm.granted, m.keep", "\tif db.hasRoom(); ok {\n\t\tm.granted, m.keep"),
		op("the-event-of-a-flush-has-no-bytes", WrongAnswer, "store", "TestNotify$",
			"The event of a flush does not say what was written.",
			"_ = db.flushed(m, out, start, nil)", "_ = db.flushed(m, nil, start, nil)"),
		op("samples-are-every-sixteenth-number", WrongAnswer, "store", "TestHistograms$",
			"In a program whose batches have sixteen changes every batch is a sample, or none.",
			"return n*0x9e3779b97f4a7c15>>60 == 0", "return n%SampleEvery == 0"),
		op("bytes-of-a-batch-with-its-headers", WrongAnswer, "store", "TestHistograms$",
			"The size of a batch counts what its changes take in memory twice.",
			"len(b.ops)-b.count*opHeader", "len(b.ops)*2"),
		op("estimate-without-bounds", WrongAnswer, "store", "TestEstimateSize$",
			"The estimate of a range is that of all partitions that it touches.",
			"from, to = later(lo, from), sooner(hi, to)\n\t\tif to != nil && bytes.Compare(from, to) >= 0 {\n\t\t\treturn\n\t\t}\n\t\tfor",
			"if from, to := later(lo, from), sooner(hi, to); to != nil && bytes.Compare(from, to) >= 0 {\n\t\t\treturn\n\t\t}\n\t\tfor"),
		op("estimate-without-large-values", WrongAnswer, "store", "TestEstimateSize$",
			"Large values are not in the estimate.",
			"blobs += r.Bytes()", "blobs += 0 * r.Bytes()"),
		op("a-merge-does-not-wait", WrongAnswer, "store", "TestMergesKeepToTheirRate$",
			"Merges are as quick as they can, whatever the limit is.",
			"return r.paid, r.sets", "return now, r.sets"),
		op("each-merge-has-the-rate-for-itself", WrongAnswer, "store", "TestMergesKeepToTheirRate$",
			"What one merge has written does not slow down the next.",
			"if least := now.Add(-rateCredit); r.paid < least {", "if least := now.Add(-rateCredit); true {"),
		op("a-new-rate-waits-for-the-old-one", Stuck, "store", "TestMergesKeepToTheirRate$",
			"A merge that waits does not notice that the limit was lifted.",
			"for !over() && r.isNow(sets) {", "for !over() {"),
		op("a-pause-is-not-for-workers", WrongAnswer, "store", "TestPaused$",
			"Workers merge while they are paused.",
			"return !s.limits.Paused && worker < s.mayWork()", "return worker < s.mayWork()"),
		op("a-pause-is-not-for-callers", WrongAnswer, "store", "TestPaused$",
			"A store without workers merges while that is paused.",
			"if db.work.limitsNow().Paused {", "if false {"),
		op("wait-waits-for-what-is-paused", Stuck, "store", "TestPaused$",
			"Wait does not return while merges are paused.",
			"return !s.limits.Paused && s.db.tree.due(", "return s.db.tree.due("),
		op("workers-stay", WrongAnswer, "store", "TestWorkers$",
			"Workers that there are merge, however few may.",
			"return !s.limits.Paused && worker < s.mayWork()", "return !s.limits.Paused"),
		op("workers-are-not-hired", Stuck, "store", "TestWorkers$",
			"There are never more workers than at the beginning.",
			"s.hire(s.mayWork())
	}
	s.wake()", "s.hire(1)
	}
	s.wake()"),
		op("quantile-below-the-value", WrongAnswer, "internal/store/histogram", "TestQuantiles$",
			"A quantile is one rank too low.",
			"if float64(rank) < q*float64(n) {\n\t\trank++", "if float64(rank) < q*float64(n) {\n\t\trank--"),
		op("histograms-are-not-cumulative", WrongAnswer, "store/monitor", "TestScrape$",
			"A bucket that Prometheus gets has what is in it alone.",
			"sum += at[power]", "sum = at[power]"),
		op("sizes-on-the-edge", WrongAnswer, "store/monitor", "TestScrape$",
			"A bucket that Prometheus gets has what is in the next one.",
			"power := max(bits.Len64(uint64(greatest)), first)", "power := max(bits.Len64(uint64(greatest))-1, first)"),
		op("a-bucket-too-far", WrongAnswer, "internal/store/histogram", "TestEveryValueHasItsBucket$",
			"A bucket ends one value too early.",
			"int64((uint64(i-shift*steps)+1)<<shift - 1)", "int64((uint64(i-shift*steps)+1)<<shift - 2)"),
	}
}
