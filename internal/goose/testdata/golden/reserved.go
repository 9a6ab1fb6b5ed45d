// Package reserved has names that mean something in Coq.
package reserved

type val struct{ match, end uint64 }

const Set = 5

func load(v *val) uint64 { return v.match + v.end }

func slice_len(s []byte) int { return len(s) }

func panic_(fix uint64) uint64 { return fix }

func with(in, forall uint64, let bool) uint64 {
	if let {
		return in + Set
	}
	return forall
}

func (v *val) ref() *val { return v }

func loop(loop uint64) uint64 {
	tmp := loop
	s := []uint64{tmp}
	return s[0]
}

func recursive(n uint64) uint64 {
	if n == 0 {
		recursive := uint64(7)
		return recursive
	}
	return recursive(n - 1)
}

func shadows(x uint64, x_1 bool) uint64 {
	if x_1 {
		x := x + 1
		x++
		return x
	}
	return x
}

func underscores(_ uint64, _ bool) (__p uint64) {
	__o := uint64(1)
	return __o
}
