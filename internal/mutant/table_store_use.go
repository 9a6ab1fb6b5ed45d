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
