// SPDX-License-Identifier: Apache-2.0

package mutant

// messageMutants are about the messages of a key that readers and compactions
// see.
func messageMutants() []Mutant {
	return []Mutant{
		{
			Name: "store/merge/a-turn-leaves-the-others-where-they-are", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A turn leaves the others where they are.",
			Old:    "\t\tcase reverse:\n\t\t\tt.take(i, s.Prev())\n", New: "\t\tcase reverse:\n",
		},
		{
			Name: "store/merge/a-turn-forgets-who-was-at-the-end", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A turn forgets who was at the end.",
			Old:    "\t\tcase reverse && h.gone:\n\t\t\tt.take(i, s.Last())\n", New: "\t\tcase reverse && h.gone:\n",
		},
		{
			Name: "store/merge/a-turn-forgets-who-was-at-the-beginning", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A turn forgets who was at the beginning.",
			Old:    "\t\tcase h.gone:\n\t\t\tt.take(i, s.First())\n", New: "\t\tcase h.gone:\n",
		},
		{
			Name: "store/merge/the-oldest-of-a-key-is-first", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The oldest of a key is first.",
			Old:    "cmp.Compare(y.m.Seq, x.m.Seq)", New: "cmp.Compare(x.m.Seq, y.m.Seq)",
		},
		{
			Name: "store/merge/twins-have-no-order-backwards", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Twins have no order backwards.",
			Old:    "\tif t.reverse {\n\t\treturn c > 0\n\t}\n\treturn c < 0", New: "\tif c == a-b {\n\t\treturn c < 0\n\t}\n\tif t.reverse {\n\t\treturn c > 0\n\t}\n\treturn c < 0",
		},
		{
			Name: "store/merge/the-number-is-the-whole-order", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The number is the whole order.",
			Old:    "\treturn t.beforeByAll(a, b)\n", New: "\treturn a < b\n",
		},
		{
			Name: "store/merge/numbers-outlive-the-common-bytes", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Numbers outlive the common bytes.",
			Old:    "\t\tt.common = t.common[:shared(t.common, h.m.Key)]\n\t\tt.renumber()\n\t\treturn\n", New: "\t\tt.common = t.common[:shared(t.common, h.m.Key)]\n",
		},
		{
			Name: "store/merge/a-short-key-is-read-from-its-end", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A short key is read from its end.",
			Old:    "uint64(b) << (56 - 8*i)", New: "uint64(b) << (8 * i)",
		},
		{
			Name: "store/merge/an-error-is-an-end", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "An error is an end.",
			Old:    "err != nil && t.err == nil {\n\t\t\tt.err = err", New: "err != nil && t.err == nil {\n\t\t\tt.err = nil",
		},
		{
			Name: "store/merge/a-replay-forgets-the-loser", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A replay forgets the loser.",
			Old:    "\t\t\tt.losers[n] = int32(w)\n", New: "",
		},
		{
			Name: "store/merge/spans-that-touch-are-two", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Spans that touch are two.",
			Old:    "r.spans[n-1].Seq == seq && bytes.Equal(r.spans[n-1].Hi, lo)", New: "r.spans[n-1].Seq == seq+1<<60 && bytes.Equal(r.spans[n-1].Hi, lo)",
		},
		{
			Name: "store/merge/the-oldest-tombstone-counts", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The oldest tombstone counts.",
			Old:    "r.active[up].Seq >= r.active[i].Seq", New: "r.active[up].Seq <= r.active[i].Seq",
		},
		{
			Name: "store/merge/the-heap-is-no-heap", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The heap is no heap.",
			Old:    "if r.active[c].Seq > r.active[big].Seq {", New: "if r.active[c].Seq < 0 {",
		},
		{
			Name: "store/merge/a-tombstone-has-its-end-in-it", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A tombstone has its end in it.",
			Old:    "bytes.Compare(r.spans[r.at].Hi, key) <= 0 {\n\t\tr.at++", New: "bytes.Compare(r.spans[r.at].Hi, key) < 0 {\n\t\tr.at++",
		},
		{
			Name: "store/merge/a-tombstone-of-the-future-counts", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A tombstone of the future counts.",
			Old:    "t.Seq > after && t.Seq <= at", New: "t.Seq > after",
		},
		{
			Name: "store/merge/a-jump-goes-beyond-an-older-tombstone", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A jump goes beyond an older tombstone.",
			Old:    "if next.Seq <= newest {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Hi", New: "if next.Seq == 0 {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Hi",
		},
		{
			Name: "store/merge/a-jump-back-goes-beyond-an-older-tombstone", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A jump back goes beyond an older tombstone.",
			Old:    "if next.Seq <= newest {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Lo", New: "if next.Seq == 0 {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Lo",
		},
		{
			Name: "store/merge/a-jump-goes-over-a-gap", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A jump goes over a gap.",
			Old:    "if next.Seq <= newest {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Hi", New: "if next.Seq <= newest {\n\t\t\tif next.Seq == 0 && next.Hi != nil {\n\t\t\t\tend = next.Hi\n\t\t\t}\n\t\t\tbreak\n\t\t}\n\t\tend = next.Hi",
		},
		{
			Name: "store/merge/a-jump-back-goes-over-a-gap", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A jump back goes over a gap.",
			Old:    "if next.Seq <= newest {\n\t\t\tbreak\n\t\t}\n\t\tend = next.Lo", New: "if next.Seq <= newest {\n\t\t\tif next.Seq == 0 && next.Lo != nil {\n\t\t\t\tend = next.Lo\n\t\t\t}\n\t\t\tbreak\n\t\t}\n\t\tend = next.Lo",
		},
		{
			Name: "store/merge/tombstones-are-not-clipped", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Tombstones are not clipped.",
			Old:    "\t\tt.Hi = hi\n", New: "",
		},
		{
			Name: "store/merge/who-has-newer-messages-jumps-too", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Who has newer messages jumps too.",
			Old:    " || newest == 0 || newest >= cover {", New: " || newest == 0 {",
		},
		{
			Name: "store/merge/who-is-unknown-jumps-too", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Who is unknown jumps too.",
			Old:    " || newest == 0 || newest >= cover {", New: " || newest >= cover {",
		},
		{
			Name: "store/merge/nobody-jumps", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "No iterator jumps.",
			Old:    "v.under[i] != v.covers.number || newest", New: "newest < cover || newest",
		},
		{
			Name: "store/merge/the-newest-is-seen-at-any-moment-forward", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The newest is seen at any moment, forward.",
			Old:    "\t\tif m.Seq > v.view.At {\n\t\t\tv.raw.step()\n\t\t\tcontinue\n\t\t}\n\t\tcover", New: "\t\tcover",
		},
		{
			Name: "store/merge/the-older-versions-are-seen-too", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The older versions are seen too.",
			Old:    "\treturn v.forward(true)\n", New: "\treturn v.forward(false)\n",
		},
		{
			Name: "store/merge/a-deleted-key-past-is-seen", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A deleted key's past is seen.",
			Old:    "\t\t\tpassing, steps = true, 0\n", New: "\t\t\tsteps = 0\n",
		},
		{
			Name: "store/merge/versions-are-passed-one-by-one", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Versions are passed one by one.",
			Old:    "steps++; steps > passStepsMax {\n\t\t\t\t\tv.spare", New: "steps++; steps < 0 {\n\t\t\t\t\tv.spare",
		},
		{
			Name: "store/merge/the-upper-bound-is-in-it", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The upper bound is in it.",
			Old:    "bytes.Compare(m.Key, v.view.Hi) >= 0", New: "bytes.Compare(m.Key, v.view.Hi) > 0",
		},
		{
			Name: "store/merge/the-lower-bound-is-out", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The lower bound is out.",
			Old:    "bytes.Compare(m.Key, v.view.Lo) < 0 {\n\t\t\tbreak", New: "bytes.Compare(m.Key, v.view.Lo) <= 0 {\n\t\t\tbreak",
		},
		{
			Name: "store/merge/operands-go-under-a-tombstone", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Operands go under a tombstone.",
			Old:    " || m.Seq < cover {\n\t\t\tbreak", New: " {\n\t\t\tbreak",
		},
		{
			Name: "store/merge/operands-are-in-the-wrong-order", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Operands are in the wrong order.",
			Old:    "m.Value, o.bytes)\n\to.bytes", New: "o.bytes, m.Value)\n\to.bytes",
		},
		{
			Name: "store/merge/operands-are-in-the-wrong-order-backwards", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Operands are in the wrong order backwards.",
			Old:    "o.merger.Combine(o.spare[:0], key, o.bytes, m.Value)", New: "o.merger.Combine(o.spare[:0], key, m.Value, o.bytes)",
		},
		{
			Name: "store/merge/a-delete-keeps-the-operands-backwards", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A delete keeps the operands backwards.",
			Old:    "\t\tcase message.Delete:\n\t\t\tv.clear()\n", New: "\t\tcase message.Delete:\n\t\t\tv.exists = false\n",
		},
		{
			Name: "store/merge/a-blob-keeps-the-operands-backwards", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A blob keeps the operands backwards.",
			Old:    "\t\tdefault:\n\t\t\tv.clear()\n", New: "\t\tdefault:\n",
		},
		{
			Name: "store/merge/a-blob-forgets-its-operands", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A blob forgets its operands.",
			Old:    "\tif v.operand.some {\n\t\treturn v.operand.over(dst, v.key, blob, true)\n\t}\n", New: "",
		},
		{
			Name: "store/merge/the-end-is-a-beginning", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The end is a beginning.",
			Old:    "v.err != nil || v.place == above:", New: "v.err != nil:",
		},
		{
			Name: "store/merge/the-beginning-is-an-end", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "The beginning is an end.",
			Old:    "v.err != nil || v.place == below:", New: "v.err != nil:",
		},
		{
			Name: "store/merge/a-failed-gathering-is-an-answer", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A failed gathering is an answer.",
			Old:    "\treturn v.raw.err == nil\n", New: "\treturn true\n",
		},
		{
			Name: "store/merge/a-failed-folding-is-an-answer", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A failed folding is an answer.",
			Old:    "\tif v.raw.err != nil {\n\t\treturn v.finished()\n\t}\n\tv.buffer", New: "\tv.buffer",
		},
		{
			Name: "store/merge/keep-forgets-the-snapshots", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep forgets the snapshots.",
			Old:    "for i > 0 && seq <= k.o.Snapshots[i-1] {", New: "for i > 0 && seq < k.o.Snapshots[i-1] {",
		},
		{
			Name: "store/merge/keep-drops-what-a-tombstone-hides-from-some", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep drops what a tombstone hides from some.",
			Old:    "if m.Seq < k.covers[stripe] {", New: "if m.Seq < k.covers[len(k.covers)-1] {",
		},
		{
			Name: "store/merge/keep-drops-deletes-above-the-bottom", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep drops deletes above the bottom.",
			Old:    "nothing := k.o.Bottom || ", New: "nothing := true || ",
		},
		{
			Name: "store/merge/keep-keeps-deletes-at-the-bottom", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep keeps deletes at the bottom.",
			Old:    "nothing := k.o.Bottom || ", New: "nothing := ",
		},
		{
			Name: "store/merge/keep-drops-a-delete-over-what-a-snapshot-sees", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep drops a delete over what a snapshot sees.",
			Old:    "\tif m.Kind != message.Delete && p.deleted != 0 {\n\t\treturn k.putDelete()\n\t}\n", New: "\tif m.Kind != message.Delete {\n\t\tp.deleted = 0\n\t}\n",
		},
		{
			Name: "store/merge/keep-combines-across-snapshots", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep combines across snapshots.",
			Old:    "case m.Kind == message.Merge && k.stripeOf(m.Seq) == p.stripe:", New: "case m.Kind == message.Merge:",
		},
		{
			Name: "store/merge/keep-folds-across-snapshots", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep folds across snapshots.",
			Old:    "case m.Kind == message.Put && k.stripeOf(m.Seq) == p.stripe:", New: "case m.Kind == message.Put:",
		},
		{
			Name: "store/merge/keep-applies-operands-to-what-a-tombstone-hides", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep applies operands to what a tombstone hides.",
			Old:    "case m.Kind == message.Delete || m.Seq < k.covers[p.stripe]:", New: "case m.Kind == message.Delete:",
		},
		{
			Name: "store/merge/keep-gives-an-old-number", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep gives an old number.",
			Old:    "k.put(p.key, k.buffer, p.operand.newest, message.Put)", New: "k.put(p.key, k.buffer, 1, message.Put)",
		},
		{
			Name: "store/merge/keep-drops-tombstones-that-snapshots-need", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep drops tombstones that snapshots need.",
			Old:    "if i > 0 || !k.o.Bottom {", New: "if !k.o.Bottom {",
		},
		{
			Name: "store/merge/keep-keeps-all-tombstones", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep keeps all tombstones.",
			Old:    "if i > 0 || !k.o.Bottom {", New: "if i >= 0 {",
		},
		{
			Name: "store/merge/keep-is-silent-about-blobs", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep is silent about blobs.",
			Old:    "k.o.Blobs.Dropped(ref)", New: "_ = ref",
		},
		{
			Name: "store/merge/keep-reads-beyond-its-end", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep reads beyond its end.",
			Old:    "bytes.Compare(m.Key, k.o.Hi) >= 0 {\n\t\t\tbreak", New: "bytes.Compare(m.Key, k.o.Hi) > 0 {\n\t\t\tbreak",
		},
		{
			Name: "store/merge/keep-puts-a-blob-operands-on-nothing", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "Keep puts a blob's operands on nothing.",
			Old:    "\tp.operand.some = false\n\treturn k.put(p.key, p.operand.bytes", New: "\tp.operand.some, p.sealed = false, true\n\treturn k.put(p.key, p.operand.bytes",
		},
		{
			Name: "store/merge/a-starting-message-is-a-further-one", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A starting message is a further one.",
			Old:    "k.starts, k.place.kept = !k.place.kept, true", New: "k.starts, k.place.kept = k.place.kept, true",
		},
		{
			Name: "store/merge/a-fold-goes-under-a-tombstone", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A fold goes under a tombstone.",
			Old:    "if m.Seq < f.cover {", New: "if m.Seq < 0 {",
		},
		{
			Name: "store/merge/a-fold-forgets-its-operands", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A fold forgets its operands.",
			Old:    "\tcase f.operand.some:\n\t\tf.dst, f.exists = f.operand.over(f.dst, f.key, value, exists), true\n", New: "",
		},
		{
			Name: "store/merge/a-fold-keeps-the-last-blob", Kind: WrongAnswer, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A fold keeps the last blob.",
			Old:    "f.done, f.exists, f.isBlob, f.err = false, false, false, nil", New: "f.done, f.exists, f.err = false, false, nil",
		},
		{
			Name: "store/merge/a-fold-blob-forgets-its-operands", Kind: Lost, In: "internal/store/merge", Packages: []string{"internal/store/merge"},
			Breaks: "A fold's blob forgets its operands.",
			Old:    "\tif f.operand.some {\n\t\treturn f.operand.over(f.dst, f.key, blob, true)\n\t}\n", New: "",
		},
	}
}
