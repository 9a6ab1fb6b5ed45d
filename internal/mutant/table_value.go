// SPDX-License-Identifier: Apache-2.0

package mutant

// valueMutants are about values: equality, order, hash, encoding, arithmetic.
func valueMutants() []Mutant {
	return append(orderMutants(), arithmeticMutants()...)
}

func orderMutants() []Mutant {
	tests := []string{"tla/value"}
	return []Mutant{
		{
			Name: "tla/value/order-is-not-size-first", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "Sets of different sizes are ordered by their elements, so CHOOSE takes another element than TLC.",
			Old:    "func compareElems(a, b []Value) int {\n\tif len(a) != len(b) {\n\t\treturn cmp.Compare(len(a), len(b))\n\t}\n\tfor i := range a {",
			New:    "func compareElems(a, b []Value) int {\n\tfor i := range min(len(a), len(b)) {",
		},
		{
			Name: "tla/value/duplicate-is-kept", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "An element that is listed twice is dropped only where it is the largest so far.",
			Old:    "dup = c == 0\n",
			New:    "dup = c == 0 && j == n\n",
		},
		{
			Name: "tla/value/function-order-ignores-domain", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "Functions of one size are ordered by their values alone, so different ones compare as equal.",
			Old:    "if c := compareDomains(a, b); c != 0 {",
			New:    "if c := compareDomains(a, b); c > 1 {",
		},
		{
			Name: "tla/value/equal-ignores-keys", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "Two records with equal values are equal whatever their fields are called.",
			Old:    "if ia != ib && !equalElems(ia.keys, ib.keys) {",
			New:    "if ia != ib && len(ia.keys) != len(ib.keys) {",
		},
		{
			Name: "tla/value/hash-differs-for-equal-sets", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "{1} and 1..1 are equal and have different hashes.",
			Old:    "if lo, n, ok := contiguous(v.ref.elems); ok {",
			New:    "if lo, n, ok := contiguous(v.ref.elems); ok && n > 1 {",
		},
		{
			Name: "tla/value/hash-ignores-domain-start", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "A lazy function and the same function written out have different hashes.",
			Old:    "if v.bits == bitsFnLazy {\n\t\treturn Hash(v.Normal())\n\t}",
			New:    "if v.bits == bitsFnLazy {\n\t\treturn Hash(v.Domain())\n\t}",
		},
		{
			Name: "tla/value/sequence-of-one-is-a-function", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "[i \\in {1} |-> 7] and <<7>> differ.",
			Old:    "if lo == 1 {\n",
			New:    "if lo == 1 && n > 1 {\n",
		},
		{
			Name: "tla/value/except-in-place", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "EXCEPT changes the function that it is applied to, and so the state before the step.",
			Old:    "copy(nd.elems, v.ref.elems)\n",
			New:    "nd.elems = v.ref.elems\n",
		},
		{
			Name: "tla/value/merge-prefers-the-right", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "f @@ g takes the values of g where both have one.",
			Old:    "Equal(keys[n-1], p.Key) {\n\t\t\tcontinue",
			New:    "Equal(keys[n-1], p.Key) {\n\t\t\tvals[n-1] = p.Val\n\t\t\tcontinue",
		},
		{
			Name: "tla/value/function-set-ignores-domain", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "A function on a domain of the right size is an element of [S -> T].",
			Old:    "} else if !Equal(x.Domain(), domain) {",
			New:    "} else if Cardinality(x.Domain()) != Cardinality(domain) {",
		},
		{
			Name: "tla/value/lazy-difference-keeps-all", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "An element of T is an element of Nat \\ T.",
			Old:    "return Contains(s.ref.elems[0], x) && !Contains(s.ref.elems[1], x)",
			New:    "return Contains(s.ref.elems[0], x)",
		},
		{
			Name: "tla/value/codec-tags-overlap", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "A sequence of sixteen elements is encoded like an empty set, so states are taken for one.",
			Old:    "if n < short {",
			New:    "if n <= short {",
		},
		{
			Name: "tla/value/codec-numbers-collide", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "The second string or model value gets the number of the first.",
			Old:    "n := uint32(len(list))\n",
			New:    "n := uint32(len(list) / 2)\n",
		},
		{
			Name: "tla/value/codec-cuts-negative-numbers", Kind: Unsound, In: "tla/value", Packages: tests,
			Breaks: "The least numbers share their encoding with others.",
			Old:    "return uint64(uint32(i<<1) ^ uint32(i>>31))",
			New:    "return uint64(uint32(max(i, -i) << 1))",
		},
	}
}

func arithmeticMutants() []Mutant {
	tests := []string{"tla/value"}
	return []Mutant{
		{
			Name: "tla/value/division-truncates", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "7 \\div -2 is rounded towards zero.",
			Old:    "((a < 0) != (b < 0))",
			New:    "(a < 0)",
		},
		{
			Name: "tla/value/product-wraps", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "A product that does not fit in 32 bits is silently cut.",
			Old:    `return fit(int64(a)*int64(b), a, "*", b)`,
			New:    "return a * b",
		},
		{
			Name: "tla/value/sum-wraps-below", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "A sum below the least number wraps around.",
			Old:    "if (c^a)&(c^b) < 0 {",
			New:    "if a > 0 && b > 0 && c < 0 {",
		},
		{
			Name: "tla/value/modulus-of-negative-divisor", Kind: WrongAnswer, In: "tla/value", Packages: tests,
			Breaks: "5 % -3 has a value.",
			Old:    "if b <= 0 {",
			New:    "if b == 0 {",
		},
	}
}

// nativeMutants are about the operators of the standard modules.
func nativeMutants() []Mutant {
	tests := []string{"tla/stdlib"}
	return []Mutant{
		{
			Name: "tla/stdlib/subseq-beyond-the-end", Kind: WrongAnswer, In: "tla/value", Packages: []string{"tla/value", "tla/stdlib"},
			Breaks: "SubSeq may be asked for elements behind the end of the sequence.",
			Old:    "if m < 1 || int64(n) > int64(length) {",
			New:    "if m < 1 || int64(m) > int64(length) {",
		},
		{
			Name: "tla/stdlib/select-counts-from-zero", Kind: WrongAnswer, In: "tla/stdlib", Packages: tests,
			Breaks: "SelectInSeq gives the place before the one that was found, and 0 for the first.",
			Old:    "})\n\t\treturn value.Int(int32(at + 1))",
			New:    "})\n\t\treturn value.Int(int32(max(at, 0)))",
		},
		{
			Name: "tla/stdlib/fold-swaps-arguments", Kind: WrongAnswer, In: "tla/stdlib", Packages: tests,
			Breaks: "FoldLeft passes the element before the result so far.",
			Old:    "\"FoldLeft\") {\n\t\t\tacc = op.call(acc, x)",
			New:    "\"FoldLeft\") {\n\t\t\tacc = op.call(x, acc)",
		},
		{
			Name: "tla/stdlib/bag-keeps-what-is-taken-out", Kind: WrongAnswer, In: "tla/stdlib", Packages: tests,
			Breaks: "An element of which no copy is left stays in the bag.",
			Old:    `copies(x, b, "(-)")); n > 0 {`,
			New:    `copies(x, b, "(-)")); n >= 0 {`,
		},
		{
			Name: "tla/stdlib/suffix-from-the-front", Kind: WrongAnswer, In: "tla/stdlib", Packages: tests,
			Breaks: "IsSuffix compares with the beginning of the sequence.",
			Old:    "equalAll(a, b[len(b)-len(a):])",
			New:    "equalAll(a, b[:len(a)])",
		},
	}
}
