// SPDX-License-Identifier: Apache-2.0

package mutant

// wormAppsMutants are about the shared log and the replicated state machine.
func wormAppsMutants() []Mutant {
	shared, replicated := []string{"worm/log"}, []string{"worm/smr"}
	return []Mutant{
		{
			Name: "worm/log/serves-before-the-fence", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "A new sequencer hands out addresses while tokens of the old one still serve.",
			Old:    "\t\tr.fence(int64(c.index)-1, 0, ready)",
			New:    "\t\tr.fence(int64(c.index)-1, 0, func() {})\n\t\tready()",
		},
		{
			Name: "worm/log/fence-only-captures", Kind: Unsound, In: "worm/log", Packages: shared, Run: "TestFenceBeforeLateWrites",
			Breaks: "Registers in which the capture of a fence saw nothing are not decided before the new sequencer serves, so that a later append can get there.",
			Old:    "if _, known := f.b.space.Known(wor.Addr{Segment: f.segment(), Offset: off}); known {",
			New:    "if _, known := f.b.space.Known(wor.Addr{Segment: f.segment(), Offset: off}); known || off >= f.end {",
		},
		{
			Name: "worm/log/fence-believes-junk", Kind: Unsound, In: "worm/log", Packages: shared, Run: "TestFence",
			Breaks: "Registers in which the capture of a fence saw the junk of an earlier fence, which may be at one server only, are not decided before the new sequencer serves.",
			Old:    "return string(a.Value) == string(junk()) }",
			New:    "return false }",
		},
		{
			Name: "worm/log/fence-ends-at-a-void-segment", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "A sequencer that takes over after one that died while taking over leaves the one before that unfenced.",
			Old:    "\tr.fence(int64(f.index)-1, lowest, done)",
			New:    "\tif !found.open {\n\t\tdone()\n\t\treturn\n\t}\n\tr.fence(int64(f.index)-1, lowest, done)",
		},
		{
			Name: "worm/log/open-segment-is-called-closed", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "The mark of the next segment says that the one in use is closed, so that the next sequencer does not fence it.",
			Old:    "r.open(c, closed, func() { r.next",
			New:    "r.open(c, c.index, func() { r.next",
		},
		{
			Name: "worm/log/tail-of-the-deposed", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "A sequencer that was deposed is believed about the tail.",
			Old:    "\tif t.answered && t.last && int64(t.said.top) == t.top {",
			New:    "\tif t.answered {",
		},
		{
			Name: "worm/log/duplicates-are-passed-on", Kind: WrongAnswer, In: "worm/log", Packages: shared,
			Breaks: "An entry that was appended twice is passed on twice.",
			Old:    "f.ids.first(e.ID) && e.Position",
			New:    "e.Position",
		},
		{
			Name: "worm/log/tokens-overlap", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "The second half of a token is handed out again.",
			Old:    "\t\treturn t.Part(wor.Range{Segment: t.Range.Segment, Lo: lo, Hi: c.offset})",
			New:    "\t\thi := c.offset\n\t\tc.offset = lo + (hi-lo+1)/2\n\t\treturn t.Part(wor.Range{Segment: t.Range.Segment, Lo: lo, Hi: hi})",
		},
		{
			Name: "worm/log/unknown-is-not-resolved", Kind: NotAtomic, In: "worm/log", Packages: shared,
			Breaks: "An append of unknown outcome is written elsewhere before its first address is decided.",
			Old:    "\t\t\tp.l.seat.suspect(0)\n\t\t\tp.resolve(a, at)\n",
			New:    "\t\t\tp.l.seat.suspect(0)\n\t\t\ta.doubtful = false\n\t\t\tp.waiting = append(p.waiting, a)\n\t\t\tp.delay()\n",
		},
		{
			Name: "worm/log/junk-is-acknowledged", Kind: Lost, In: "worm/log", Packages: shared,
			Breaks: "An append whose address became junk is acknowledged.",
			Old:    "\tcase string(row.Held(value, err)) == string(a.value):",
			New:    "\tcase err == nil || string(row.Held(value, err)) == string(a.value):",
		},
		{
			Name: "worm/log/follower-jumps-over-holes", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "A register that is not decided is taken for empty.",
			Old:    "\t\tif !ok {\n\t\t\tbreak\n\t\t}\n\t\tdelete(f.cells, off)",
			New:    "\t\tif !ok && f.lowestAbove() > 0 {\n\t\t\tf.next++\n\t\t\tcontinue\n\t\t}\n\t\tif !ok {\n\t\t\tbreak\n\t\t}\n\t\tdelete(f.cells, off)",
		},
		{
			Name: "worm/log/left-over-tokens-are-kept", Kind: Unsound, In: "worm/log", Packages: shared,
			Breaks: "An append takes an address that was handed out before it began.",
			Old:    "\t\tif q.extra > 0 {\n\t\t\tp.stock",
			New:    "\t\tif len(p.stock) >= 0 {\n\t\t\tp.stock",
		},
		{
			Name: "worm/log/holes-are-not-looked-for", Kind: Stuck, In: "worm/log", Packages: shared,
			Breaks: "A hole below which nothing is written keeps readers waiting forever.",
			Old:    "\t\t\tcase err != nil || f.ended() || f.next != at || tail <= at:",
			New:    "\t\t\tcase err != nil || f.ended() || f.next != at || tail >= at:",
		},
		{
			Name: "worm/smr/applies-past-a-hole", Kind: Unsound, In: "worm/smr", Packages: replicated,
			Breaks: "A register that is not decided is taken for empty.",
			Old:    "\t\tvalue, ok := l.cells[off]\n",
			New:    "\t\tvalue, ok := l.cells[off]\n\t\tif !ok && l.above() > 0 {\n\t\t\tvalue, ok = junk(), true\n\t\t}\n",
		},
		{
			Name: "worm/smr/sent-again-is-applied-again", Kind: NotAtomic, In: "worm/smr", Packages: replicated,
			Breaks: "A command that was written twice is applied twice.",
			Old:    "\tif result, ok := x.results[c.number]; ok {",
			New:    "\tif result, ok := x.results[c.number]; ok && len(result) > 1<<30 {",
		},
		{
			Name: "worm/smr/end-is-not-seen", Kind: Stuck, In: "worm/smr", Packages: replicated,
			Breaks: "A replica stays in a segment that was ended.",
			Old:    "\t\tif isEnd(value) {",
			New:    "\t\tif isEnd(value) && off > l.size {",
		},
		{
			Name: "worm/smr/deposed-leader-reads", Kind: Unsound, In: "worm/smr", Packages: replicated,
			Breaks: "A leader that was deposed answers reads.",
			Old:    "\t\tcase errors.Is(err, wor.ErrUnallocated):\n\t\t\tr.learner.when(at, b.end)",
			New:    "\t\tcase err != nil || s.top >= 0:\n\t\t\tr.learner.when(at, b.end)",
		},
		{
			Name: "worm/smr/leader-reads-before-its-writes", Kind: Unsound, In: "worm/smr", Packages: replicated,
			Breaks: "A leader answers a read without what others know that it wrote.",
			Old:    "\t\t\tr.learner.when(at, b.end)",
			New:    "\t\t\t_ = at\n\t\t\tb.end()",
		},
		{
			Name: "worm/smr/what-is-behind-the-end-is-dropped", Kind: Stuck, In: "worm/smr", Packages: replicated,
			Breaks: "A command that was written behind an end is not written again.",
			Old:    "\t\t\tagain = append(again, f.proposals...)",
			New:    "\t\t\tagain = append(again, f.proposals[:0]...)",
		},
		{
			Name: "worm/smr/snapshots-forget-sessions", Kind: NotAtomic, In: "worm/smr", Packages: replicated,
			Breaks: "After a snapshot was restored, which commands were applied is forgotten.",
			Old:    "\tr.shared, r.learner.next = shared, next",
			New:    "\tr.learner.next = next",
		},
		{
			Name: "worm/smr/trims-more-than-is-saved", Kind: Lost, In: "worm/smr", Packages: replicated,
			Breaks: "A segment is trimmed whose commands are not in the snapshot.",
			Old:    "s.keep = max(s.keep, int64(w.slot.Index()))",
			New:    "s.keep = max(s.keep, int64(w.slot.Index())+1)",
		},
		{
			Name: "worm/smr/results-are-given-up-early", Kind: Lost, In: "worm/smr", Packages: replicated,
			Breaks: "The owner of a session says that it has results for which it waits.",
			Old:    "\t\t\tlow = min(low, k.number)",
			New:    "\t\t\tlow = max(low, k.number)",
		},
		{
			Name: "worm/smr/read-does-not-look", Kind: Unsound, In: "worm/smr", Packages: replicated,
			Breaks: "A linearizable read of who does not lead answers what this replica has.",
			Old:    "b.lead(s)\n\t\treturn\n\t}\n\tb.look()\n",
			New:    "b.lead(s)\n\t\treturn\n\t}\n\tb.end()\n",
		},
	}
}
