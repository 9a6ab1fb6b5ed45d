// SPDX-License-Identifier: Apache-2.0

package mutant

// attackMutants are about the parts of the checker that omit or store work:
// steps taken alone, orbits, files, checkpoints and packed states. A state that
// one of them loses makes "verified" false.
func attackMutants() []Mutant {
	all := append(aloneMutants(), orbitMutants()...)
	all = append(append(all, fileMutants()...), manifestMutants()...)
	return append(append(append(all, layoutMutants()...), machineMutants()...), packMutants()...)
}

func aloneMutants() []Mutant {
	mutant := func(name string, kind Kind, in, breaks, old, text string) Mutant {
		return Mutant{Name: "eval/alone/" + name, Kind: kind, In: in, Packages: []string{"internal/model"}, Run: "TestReduction$", Breaks: breaks, Old: old, New: text}
	}
	const model, reduce, closure = "internal/model", "internal/model/reduce", "internal/model/closure"
	return []Mutant{
		mutant("constants-see-nothing", Unsound, reduce,
			"A step that mentions a constant for which the configuration gives a definition with variables is taken alone.",
			"ok = ok && (d == nil || a.constant(d))", "ok = ok && (d == nil || d != nil)"),
		mutant("definitions-see-nothing", Unsound, reduce,
			"A step that uses a definition with variables is taken alone.",
			"return f.Vars == 0 && !f.Volatile", "return !f.Volatile"),
		mutant("procedures-mention-nothing", Unsound, reduce,
			"A variable of a process that a procedure assigns counts as its own.",
			"pcal.InspectStmts(b.Body, assigned(nil), drop(nil))", "_ = b"),
		mutant("others-mention-nothing", Unsound, reduce,
			"A variable that another process reads counts as its process's own.",
			"if a.own[x.Var] != p {\n\t\t\t\t\tdelete(a.own, x.Var)", "if a.own[x.Var] != p && p == nil {\n\t\t\t\t\tdelete(a.own, x.Var)"),
		mutant("others-assign-nothing", Unsound, reduce,
			"A variable that another process assigns counts as its process's own.",
			"if a.own[pair.Target] != p {\n\t\t\t\t\t\tdelete(a.own, pair.Target)", "if a.own[pair.Target] != p && p == nil {\n\t\t\t\t\t\tdelete(a.own, pair.Target)"),
		mutant("own-label-is-not-seen", Unsound, reduce,
			"A step from a label that an invariant compares pc with is taken alone.",
			"ok := !a.labels[b.Label]", "ok := b.Label != \"\""),
		mutant("sets-of-labels-are-not-seen", Unsound, reduce,
			"Labels that an invariant has in a set count as not mentioned.",
			"texts = set.Elems", "texts = set.Elems[:0]"),
		mutant("definitions-of-invariants-are-not-seen", Unsound, reduce,
			"Labels that a definition compares pc with, which an invariant uses, count as not mentioned.",
			"return a.seePC(d.Body, open)\n}", "return d.Body != nil\n}"),
		mutant("constraints-are-no-reason", Unsound, model,
			"Steps are taken alone although a constraint cuts the search off.",
			"case len(m.constraints)+len(m.actionConstraints) > 0:", "case len(m.constraints) > 1000:"),
		mutant("steps-are-no-reason", Unsound, model,
			"Steps are taken alone although a property of steps is asked for.",
			"case len(m.steps) > 0:", "case len(m.steps) > 1000:"),
		mutant("what-cannot-go-on-is-alone", Unsound, closure,
			"A process that waits at a local label keeps the others from going on.",
			"if alone(m); m.alone == 0 {", "if !alone(m) {"),
	}
}

func orbitMutants() []Mutant {
	mutant := func(name string, kind Kind, breaks, old, text string) Mutant {
		return Mutant{Name: "eval/orbits/" + name, Kind: kind, In: "internal/model/symmetry", Packages: []string{"internal/model"}, Run: "Orbits", Breaks: breaks, Old: old, New: text}
	}
	return []Mutant{
		mutant("two-elements-are-one", Unsound, "A value that relates two elements gets columns, and the relation is forgotten.",
			"case q == none || p == q:", "case q == none || p.set == q.set:"),
		mutant("partial-functions-lose-values", Unsound, "Functions on elements that have other values are taken for one.",
			"pairs[i] = value.Tuple(keys[i], vals[i])", "pairs[i] = value.Tuple(keys[i], vals[0])"),
		mutant("rows-compare-one-variable", WrongAnswer, "Elements that differ in a later variable only are not sorted, and an orbit has several names.",
			"if c := int(p.numbers[1+a]) - int(p.numbers[1+b]); c != 0 {", "if c := int(p.numbers[1+a]) - int(p.numbers[1+b]); c != 0 || c == 0 {"),
		mutant("skeletons-are-not-named", Unsound, "States that differ in what mentions no element are taken for one.",
			"s.key = binary.AppendUvarint(s.key, uint64(p.numbers[0]))", "s.key = binary.AppendUvarint(s.key, uint64(p.set+1))"),
		mutant("other-sets-are-not-told-apart", Unsound, "An element of a set stands for that of another set.",
			"return value.Tuple(value.Int(1)), p.set == set", "return value.Tuple(value.Int(1)), true"),
		mutant("keys-of-functions-stay", WrongAnswer, "An image of a function has the old arguments.",
			"pairs[i] = value.Pair{Key: keys[i], Val: vals[i]}", "pairs[i] = value.Pair{Key: v.Domain().Elems()[i], Val: vals[i]}"),
	}
}

func fileMutants() []Mutant {
	mutant := func(name string, kind Kind, tests, breaks, old, text string) Mutant {
		return Mutant{Name: "check/files/" + name, Kind: kind, In: "internal/check/spill", Packages: []string{"internal/check/spill", "internal/check"}, Run: tests, Breaks: breaks, Old: old, New: text}
	}
	return []Mutant{
		mutant("foreign-runs-are-read", Unsound, "ForeignRun", "A run of another search that is as long is taken for that of this one, and its states are left out.",
			"if err == nil && r.sum != sum {", "if err == nil && r.sum != sum && n == 0 {"),
		mutant("common-fingerprints-are-merged", Unguarded, "ForeignRun|Forged", "Runs that cannot be of one search are merged.",
			"case okA && okB && x == y:", "case okA && okB && x == y && a == b:"),
		mutant("order-is-not-looked-at", Unguarded, "Run|Byte|Forged", "Fingerprints that do not ascend are searched as if they did.",
			"if (page > 0 || i > 0) && fp <= r.last {", "if (page > 0 || i > 1<<20) && fp <= r.last {"),
		mutant("first-page-is-skipped", WrongAnswer, "Run", "What is on the first page of a run is not found.",
			"if page < 0 {\n\t\t\tfps = fps[1:]", "if page <= 0 {\n\t\t\tfps = fps[1:]"),
		mutant("extent-is-lost", WrongAnswer, "Run|Merge", "When the buffer of a run is full, it is thrown away.",
			"w.buf = append(w.buf, make([]byte, from+pageBytes-len(w.buf))...)", "w.buf = append(w.buf[:min(len(w.buf), pageBytes*63)], make([]byte, from+pageBytes-min(len(w.buf), pageBytes*63))...)"),
		mutant("blocks-are-believed", Unguarded, "Damaged|Byte", "A block of states that is not what was written is read.",
			"if sum := checksum(data); sum != b.Sum {", "if sum := checksum(data); sum != b.Sum && len(data) == 0 {"),
		mutant("blocks-beyond-the-file", Unguarded, "Tape|Byte|Forged", "A table may name a block that the file does not have.",
			"if b.At < 0 || b.Bytes < 0 || b.Items < 0 || b.At > size-int64(b.Bytes) {", "if b.At < 0 || b.Items < 0 {"),
		mutant("what-follows-a-table-is-kept", Lost, "Tape|Resume", "A tape that is opened again writes over its own first block.",
			"t.end = max(t.end, b.At+int64(b.Bytes))", "t.end = b.At"),
		mutant("kept-blocks-are-let-go", WrongAnswer, "Tape|Bounded", "A block that is being read is let go of and not counted any more.",
			"if release && i >= keep {", "if release && i > keep {"),
	}
}

func manifestMutants() []Mutant {
	mutant := func(name string, kind Kind, tests, breaks, old, text string) Mutant {
		return Mutant{Name: "check/manifest/" + name, Kind: kind, In: "internal/check", Packages: []string{"internal/check"}, Run: tests, Breaks: breaks, Old: old, New: text}
	}
	return []Mutant{
		mutant("is-not-summed", Unguarded, "Contradictory", "A manifest that is damaged is believed.",
			"if !ok || hex.EncodeToString(crcBytes(text)) != string(sum) {", "if !ok || len(sum) > 8 || len(hex.EncodeToString(crcBytes(text))) > 8 {"),
		mutant("figures-may-differ", Unguarded, "Contradictory", "Figures that contradict each other are gone on with.",
			"if sign < 0 || generated != m.Stats.Generated", "if sign < -1<<62 || generated < m.Stats.Generated-1<<62"),
		mutant("samples-may-be-anything", Unguarded, "Contradictory", "Places of the lineage that are not there are gone to.",
			"if int(x.Block) != i || x.Offset != 0 || int(x.Number) != number ||", "if int(x.Block) != i ||"),
		mutant("names-may-be-anything", Unguarded, "Contradictory", "A checkpoint may name files that are not its own, and that a search writes or removes.",
			"if t.name != t.want {", "if t.name != t.want && t.want == \"\" {"),
		mutant("lengths-may-differ", Unguarded, "Contradictory", "Runs may have more or fewer fingerprints than there are states.",
			"case runs != m.Stats.Distinct || items(m.Lineage) != m.Stats.Distinct ||", "case items(m.Lineage) != m.Stats.Distinct ||"),
		mutant("numbers-of-runs-begin-again", Lost, "Resume|Forged", "A resumed search writes over the runs that it goes on with.",
			"k.seq, s.store.seq = m.Seq, m.RunSeq", "k.seq, s.store.seq = m.Seq, 0"),
		mutant("runs-are-not-opened", Unsound, "Resume", "A resumed search does not know the states that were found before.",
			"st.runs = append(st.runs, r)\n\t\tif st.partial {", "if st.runs = append(st.runs, r); st.partial || len(runs) > 1 {"),
		mutant("fingerprints-in-memory-are-not-kept", WrongAnswer, "Resume", "Fingerprints that are in no run are in no checkpoint.",
			"if st.fresh() > 0 {", "if st.fresh() > 1<<40 {"),
		mutant("first-block-is-released", WrongAnswer, "Resume", "The block in the midst of which the search is at is not in the checkpoint.",
			"min(l.at.block, l.current.Blocks())", "min(l.at.block+1, l.current.Blocks())"),
		mutant("a-checkpoint-stays", WrongAnswer, "Resume", "A search that has come to its end leaves its checkpoint.",
			"if len(k.durable) == 0 {", "if len(k.durable) >= 0 {"),
	}
}

func layoutMutants() []Mutant {
	mutant := func(name string, kind Kind, breaks, old, text string) Mutant {
		return Mutant{Name: "pack/layout/" + name, Kind: kind, In: "internal/model/pack", Packages: []string{"internal/model/pack"}, Run: "TestLayout", Breaks: breaks, Old: old, New: text}
	}
	return []Mutant{
		mutant("numbers-above-the-range-wrap", Unsound, "A number beyond its range is stored as another one.",
			"if x < t.lo || x > t.hi {", "if x < t.lo {"),
		mutant("sequences-outgrow", Unsound, "A sequence that is longer than its place is cut off.",
			"if v.Kind() != value.KindTuple || len(vals) > t.most {", "if v.Kind() != value.KindTuple {"),
		mutant("domains-are-not-compared", Unsound, "A function on other arguments is stored as one on these.",
			"} else if len(vals) != len(t.keys) || !value.Equal(v.Domain(), t.dom) {", "} else if len(vals) != len(t.keys) {"),
		mutant("any-bytes-are-packed", WrongAnswer, "A state that is encoded as before is read as a packed one where it is as long.",
			"if len(b) != l.bytes || b[0]&1 == 0 {", "if len(b) != l.bytes {"),
		mutant("negative-numbers-shift", WrongAnswer, "Numbers come back without the least of their range.",
			"return value.Int(int32(int64(l.f.get(words)) + t.lo))", "return value.Int(int32(int64(l.f.get(words))))"),
		mutant("elements-beyond-a-word", WrongAnswer, "Elements of a set beyond the 64th do not come back.",
			"if words[p.word]>>(p.shift+i%64)&1 != 0 {", "if words[p.word]>>(p.shift+i)&1 != 0 {"),
	}
}

func machineMutants() []Mutant {
	mutant := func(name string, kind Kind, in, breaks, old, text string) Mutant {
		return Mutant{Name: "pack/machine/" + name, Kind: kind, In: in, Packages: []string{"internal/model"}, Run: "PackedAgreesOn(Wide|Random)|PackedS(hares|ums)", Breaks: breaks, Old: old, New: text}
	}
	return []Mutant{
		mutant("stops-are-not-seen", Unsound, "internal/model/pack", "Code that met what it does not know counts as having told all.",
			"copy(m.nxt, cur)\n\tm.code.next(m)\n\treturn !m.stopped\n", "copy(m.nxt, cur)\n\tm.code.next(m)\n\treturn true\n"),
		mutant("predicates-do-not-stop", Unsound, "internal/model/pack", "A predicate that has no value counts as having one.",
			"m.code.preds[i](m)\n\tok = !m.stopped\n", "m.code.preds[i](m)\n\tok = true\n"),
		mutant("memo-of-another-state", Unsound, "internal/model/pack", "What was computed once is believed for ever.",
			"if s.now != m.now {\n\t\t\tv := f(m)\n\t\t\ts.now, s.v", "if s.now == 0 {\n\t\t\tv := f(m)\n\t\t\ts.now, s.v"),
		mutant("told-twice", WrongAnswer, "internal/model", "A state whose code stopped has its first successors twice.",
			"if done > 0 {\n\t\t\tdone--", "if done > 1<<30 {\n\t\t\tdone--"),
	}
}
