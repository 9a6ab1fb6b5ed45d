// SPDX-License-Identifier: Apache-2.0

package mutant

// wormPaxosMutants are about registers on a quorum of servers: mistakes that
// lose or change a decided value, or report a written register as unwritten.
func wormPaxosMutants() []Mutant {
	return append(append(acceptorMutants(), quorumMutants()...), fastMutants()...)
}

func acceptorMutants() []Mutant {
	in := []string{"internal/worm/paxos"}
	return []Mutant{
		{
			Name: "worm/paxos/promise-is-not-logged", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A server forgets its promise when it crashes, and accepts below it.",
			Old:    "	a.record = promiseRecord(a.record[:0], q.Range.Segment, lo, end, q.Ballot)\n	log.Append(a.record)\n",
			New:    "",
		},
		{
			Name: "worm/paxos/accepted-value-is-not-logged", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A server forgets what it accepted when it crashes.",
			Old:    "			log.Append(a.record)\n			start = -1\n",
			New:    "			start = -1\n",
		},
		{
			Name: "worm/paxos/tombstone-is-not-logged", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "The registers are deleted before there is a tombstone: after a crash the segment is there again.",
			Old:    "	log.Append(a.record)\n	a.bury(stretch{s, s})\n",
			New:    "	a.bury(stretch{s, s})\n",
		},
		{
			Name: "worm/paxos/tombstones-are-not-saved", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A checkpoint forgets the tombstones.",
			Old:    "		a.record = trimRecord(a.record[:0], x)\n		return yield(a.record)\n",
			New:    "		return true\n",
		},
		{
			Name: "worm/paxos/promises-are-not-saved", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A checkpoint forgets the promises of one of two runs.",
			Old:    "		start = int(run.end)\n	}\n	end :=",
			New:    "		start = int(run.end)\n		break\n	}\n	end :=",
		},
		{
			Name: "worm/paxos/conflict-is-overwritten", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile|Naive|RangeIs",
			Breaks: "Another value at the same ballot takes the place of the first (rule c).",
			Old:    "v != nil && at == b {\n			run.Written",
			New:    "v != nil && at == b && bytes.Equal(v, value) {\n			run.Written",
		},
		{
			Name: "worm/paxos/write-below-a-promise", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A server accepts below what it promised.",
			Old:    "if b.Less(run.Promised) {",
			New:    "if at, v := p.accepted(i % pageSize); v != nil && b.Less(at) {",
		},
		{
			Name: "worm/paxos/accepting-promises-nothing", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A server that accepted at a ballot lets a lower capture pass.",
			Old:    "if c, v := p.accepted(i); v != nil && b.Less(c) {",
			New:    "if c, v := p.accepted(i); v != nil && b.IsZero() {",
		},
		{
			Name: "worm/paxos/redo-lets-the-last-win", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Naive",
			Breaks: "A record that is repeated late overwrites what was accepted at a higher ballot.",
			Old:    "w != nil && !at.Less(b) {",
			New:    "w != nil && at == b {",
		},
		{
			Name: "worm/paxos/redo-of-a-promise-lowers", Kind: Lost, In: "internal/worm/paxos", Packages: in, Run: "Naive",
			Breaks: "A lower promise takes the place of a higher one.",
			Old:    "if run.ballot.Less(b) {",
			New:    "if run.ballot != b {",
		},
		{
			Name: "worm/paxos/trimmed-segment-comes-back", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Naive",
			Breaks: "A record from before the trim, repeated after it, opens the segment again.",
			Old:    "	if a.trimmed.has(number) {\n		return nil\n	}\n",
			New:    "",
		},
		{
			Name: "worm/paxos/what-does-not-fit-is-promised", Kind: WrongAnswer, In: "internal/worm/paxos", Packages: in, Run: "ReplyEnds",
			Breaks: "A capture promises registers that its reply does not cover.",
			Old:    "a.promise(q.Range.Segment, lo, end, q.Ballot)",
			New:    "a.promise(q.Range.Segment, lo, int(q.Range.Hi), q.Ballot)",
		},
		{
			Name: "worm/paxos/record-contradicts", Kind: Unguarded, In: "internal/worm/paxos", Packages: in, Run: "Refuses|Fuzz",
			Breaks: "Two values at one ballot in a log are taken for a sound one.",
			Old:    "w != nil && at == b && !bytes.Equal(v, w) {",
			New:    "w != nil && at == b && bytes.Compare(v, w) < 0 {",
		},
		{
			Name: "worm/paxos/memory-of-shared-values", Kind: WrongAnswer, In: "internal/worm/paxos", Packages: in, Run: "Bytes",
			Breaks: "A value that many registers share is counted for each.",
			Old:    "if w := p.values[i-1]; len(w) > 0 && &w[0] == &v[0] {",
			New:    "if w := p.values[i-1]; len(w) == 0 && len(v) == 0 {",
		},
	}
}

func quorumMutants() []Mutant {
	in := []string{"internal/worm/paxos"}
	return []Mutant{
		{
			Name: "worm/paxos/phase-1-is-ignored", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A capture calls free what must be adopted.",
			Old:    "if m.kind == wor.KindCapture && run.Written {",
			New:    "if m.kind == wor.KindCapture && run.Written && run.Accepted.IsZero() {",
		},
		{
			Name: "worm/paxos/lowest-is-adopted", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A capture adopts the first value that it sees, not that of the highest ballot.",
			Old:    "if !x.written || x.accepted.Less(run.Accepted) {\n		x.written,",
			New:    "if !x.written {\n		x.written,",
		},
		{
			Name: "worm/paxos/nack-counts", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "Who refused counts as who promised or accepted.",
			Old:    "		x.no |= 1 << from\n		x.conflict",
			New:    "		x.yes |= 1 << from\n		x.conflict",
		},
		{
			Name: "worm/paxos/quorum-over-ballots", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A read counts together who holds a value at a lower ballot and who at the highest (rule d).",
			Old:    "		x.yes, x.no = 1<<from, 0 // what",
			New:    "		x.yes, x.no = x.yes|1<<from, 0 // what",
		},
		{
			Name: "worm/paxos/old-repair-counts", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile|Dialogues",
			Breaks: "An answer to the repair of a lower ballot counts for the one that was seen since.",
			Old:    "case q.Ballot == x.accepted && run.Status == wor.StatusOK:",
			New:    "case run.Status == wor.StatusOK:",
		},
		{
			Name: "worm/paxos/highest-without-a-majority", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A read answers the highest value that it saw, decided or not.",
			Old:    "	case x.written && x.seen.count() >= q:\n		x.fixing = true\n",
			New:    "	case x.written && x.seen.count() >= q:\n		m.close(x, wor.StatusOK)\n",
		},
		{
			Name: "worm/paxos/unwritten-without-a-majority", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A read calls a register unwritten when fewer than a majority say so.",
			Old:    "if !x.done && x.none.count() >= q {",
			New:    "if !x.done && x.none.count() >= q-1 {",
		},
		{
			Name: "worm/paxos/one-tombstone-is-enough", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "An operation answers trimmed before a majority has the tombstone.",
			Old:    "m.trimming && m.tombs.count() >= wor.Majority(m.n)",
			New:    "m.trimming && m.tombs.count() >= 1",
		},
		{
			Name: "worm/paxos/half-is-a-majority", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "One server fewer than a majority decides.",
			Old:    "	q, zero := wor.Majority(m.n), m.fast",
			New:    "	q, zero := wor.Majority(m.n)-1, m.fast",
		},
		{
			Name: "worm/paxos/gone-servers-are-waited-for", Kind: Stuck, In: "internal/worm/paxos", Packages: in, Run: "Dialogues",
			Breaks: "An operation that one server refused waits for another that has left.",
			Old:    "(no|m.gone&^yes).count() > m.n-q",
			New:    "no.count() > m.n-q",
		},
		{
			Name: "worm/paxos/answer-of-an-earlier-round", Kind: Unsound, In: "internal/worm/paxos", Packages: in,
			Breaks: "A late answer is taken for one to the latest request.",
			Old:    "step < s.since || ",
			New:    "",
		},
		{
			Name: "worm/paxos/rest-is-not-asked", Kind: Stuck, In: "internal/worm/paxos", Packages: in,
			Breaks: "What a reply does not cover is never asked for.",
			Old:    "		s.next = end\n",
			New:    "		s.next = q.Range.Hi\n",
		},
	}
}

func fastMutants() []Mutant {
	in := []string{"internal/worm/fast"}
	return []Mutant{
		{
			Name: "worm/fast/majority-is-enough", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A majority decides at ballot zero, where many values may be written.",
			Old:    "		q = wor.FastQuorum(m.n)\n",
			New:    "		q = wor.Majority(m.n)\n",
		},
		{
			Name: "worm/fast/one-vote-more-is-asked", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "Recovery asks for one vote too many and calls free what may be chosen.",
			Old:    "x.yes.count() >= wor.FastQuorum(n) {",
			New:    "x.yes.count() > wor.FastQuorum(n) {",
		},
		{
			Name: "worm/fast/first-value-is-adopted", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "Recovery adopts the first value that it saw at ballot zero.",
			Old:    "			x.recover(m.n)\n",
			New:    "",
		},
		{
			Name: "worm/fast/read-takes-a-majority", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "A read takes a value for decided that a majority holds at ballot zero.",
			Old:    "	q, best := wor.FastQuorum(m.n), mask(0)\n",
			New:    "	q, best := wor.Majority(m.n), mask(0)\n",
		},
		{
			Name: "worm/fast/votes-are-added-up", Kind: Unsound, In: "internal/worm/paxos", Packages: in, Run: "Hostile",
			Breaks: "Different values at ballot zero count together.",
			Old:    "if bytes.Equal(x.zero[i].value, run.Value) {",
			New:    "if x.zero[i].value != nil {",
		},
		{
			Name: "worm/fast/down-servers-are-waited-for", Kind: Stuck, In: "internal/worm/paxos", Packages: in,
			Breaks: "A write at ballot zero waits forever for a server that is down.",
			Old:    "m.expired >= patience && answered.count()",
			New:    "m.expired < 0 && answered.count()",
		},
	}
}
