// SPDX-License-Identifier: Apache-2.0

package mutant

// pagedMutants are about indexes of branches that stay in the file.
func pagedMutants() []Mutant {
	paged := func(name, in string, kind Kind, run, breaks, before, after string) Mutant {
		return Mutant{
			Name: "store/paged/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{in}, Run: run,
		}
	}
	const branch = "internal/store/branch"
	return []Mutant{
		paged("indexes-stay-in-memory", "store", Unsound, "TestIndexesStayInTheFile",
			"Fences and filters of all branches are in memory, however many there are.",
			"return max(most-db.indexBytes.Load(), 1)", "return 0"),
		paged("pages-are-not-compared", branch, Unguarded, "TestRotInAPagedIndex",
			"A page of an index that has rotted leads to the wrong block, or denies keys.",
			"if sum := pageSum(mem[i:][:extent.PageSize]); sum != want {", "if sum := pageSum(mem[i:][:extent.PageSize]); sum != want && n == 0 {"),
		paged("a-part-ends-too-early", branch, WrongAnswer, "TestPagedAgainstASortedList",
			"A part does not know the separator behind its last block, where a search may end.",
			"seps = min(end+1, x.n) - base", "seps = min(end, x.n) - base"),
		paged("the-search-begins-in-the-next-part", branch, WrongAnswer, "TestPagedAgainstASortedList",
			"A key below the first separator of a part is looked for in that part.",
			"return x.part(max(x.paged.top.fence(key)-1, 0), c, s)", "return x.part(min(x.paged.top.fence(key), x.paged.top.seps-1), c, s)"),
		paged("pages-of-filters-are-taken-for-parts", branch, WrongAnswer, "TestPagedAgainstASortedList",
			"In the cache a page of a filter stands in the place of a part of the fences.",
			"filterNumber = 2 << 30", "filterNumber = 1 << 30"),
		paged("an-iterator-keeps-the-part-before", branch, WrongAnswer, "TestPagedAgainstASortedList",
			"An iterator reads a block at the place that another part has for it.",
			"if s.partOf == x && s.part.base <= b && b < s.part.end {", "if s.partOf == x && s.part.base <= b {"),
		paged("the-index-is-not-verified", "store", Unguarded, "TestVerifyReadsTheIndexes",
			"Verify passes over what has rotted in the index of a branch.",
			"for i := -1; i < b.Index.Blocks(); i++ {", "for i := 0; i < b.Index.Blocks(); i++ {"),
	}
}
