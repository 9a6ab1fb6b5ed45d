// SPDX-License-Identifier: Apache-2.0

package mutant

// sweepMutants are about which merges are made and when. They change no answer of a store,
// only its size and the bytes that it writes; counts of bytes kill them.
func sweepMutants() []Mutant {
	row := func(name, in, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/sweep/" + name, In: in, Kind: WrongAnswer, Breaks: breaks, Old: before, New: after,
			Packages: []string{in}, Run: run,
		}
	}
	const trunk = "internal/store/trunk"
	return []Mutant{
		row("never", trunk, "Dead space is not swept: it comes back when each partition is merged for other reasons.",
			"space.weight() >= 1 &&", "space.weight() >= 1e9 &&", "TestSweeps"),
		row("at-any-cost", trunk, "A sweep is made whatever it costs.",
			"(float64(s.Cost) * float64(s.Live))", "(float64(s.Cost)*float64(s.Live)/100)", "TestSweeps"),
		row("shared-branches-stay", trunk, "A branch stays whole for a partition that needs little of it.",
			"shared = shared || r.Branch.reaches(lo, hi)", "shared = false", "TestASweepReleases"),
		row("never-ends", trunk, "What a sweep has written is swept again.",
			"return above > 0 || above == 0 && b.tombstones == 0", "return above > 0 || b.tombstones == 0", "TestASweepEnds"),
		row("nothing-is-learned", trunk, "That newer messages overwrite older ones is not known.",
			"t.yields.add(newer, read-written, t.held)", "t.yields.add(newer, 0, t.held)", "TestSweeps"),
		row("all-newer-is-dead", trunk, "New keys are taken for overwritten ones, and a load is merged again and again.",
			"return min(max(y.dead/y.newer, 0), deadMost)", "return 1", "TestLoadsAreNotSwept"),
		row("only-errors-upward-count", trunk, "Merges whose sizes are estimated too low do not make up for those that are estimated too high: what nobody overwrites counts as dead.",
			"y.dead*keep + float64(dead)", "y.dead*keep + float64(max(dead, 0))", "TestErrorsCancelOut"),
		row("given-back-branches-count", trunk, "Branches that are gone count as held.",
			"t.held -= int64(r.Branch.Meta.Bytes)", "", "TestHeldIsCounted"),
		row("an-idle-store-merges-remainders", "store", "A store to which no changes come merges all small remainders, beside its readers.",
			"unchanging: 2,", "unchanging: 0.02,", "TestPhasesThatOnlyRead"),
		row("reads-never-pay", trunk, "However many scans search the same branches in vain, they are not merged.",
			"ratio = max(ratio, paid)", "_ = paid", "TestPaid"),
		row("each-scan-merges-beside-writes", trunk, "While changes come, scans have partitions rewritten for the sake of a few newer messages.",
			"paid = min(paid, ", "paid = max(paid, ", "TestPaid"),
		row("partitions-stay-small", trunk, "Partitions are as small as ever in a tree of any size, and their descriptions take more memory than there is.",
			"return max(s.LeafBytes, held/int64(s.Partitions))", "return s.LeafBytes", "TestBranchesAreBounded"),
		row("neighbours-stay-apart", trunk, "Partitions that nobody changes stay as small as they were.",
			"if best == nil && t.crowded() {", "if false {", "TestBranchesAreBounded"),
		row("the-joined-stay-many", trunk, "Partitions that were joined are not merged: there are as many branches as before.",
			"if t.crowded() {\n\t\t\tratio = max(ratio, 1)", "if false {\n\t\t\tratio = max(ratio, 1)", "TestBranchesAreBounded"),
		row("all-is-merged-each-time", trunk, "A pivot writes all that it has collected again with each dozen of small branches.",
			"if i >= 2 && r.Bytes > sum {", "if i >= 2 && r.Bytes > sum<<20 {", "TestBranchesAreBounded"),
		row("checkpoints-come-late", "store", "What merges have retired stays in use until the next memtable is flushed.",
			"retired < (uint64(end)-free)/reclaimPart ||", "retired < uint64(end)+free ||", "TestOverwritesAreBounded"),
	}
}
