// SPDX-License-Identifier: Apache-2.0

package stdlib

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ashlar-dev/ashlar/tla/value"
)

// subsequences is the second half of SequencesExt: prefixes, suffixes and
// subsequences.
func subsequences() []Op {
	m := module{name: "SequencesExt"}
	m.f2("IsPrefix", func(s, t Value) Value { return boolean(isPrefix(s, t, "IsPrefix")) })
	m.f2("IsStrictPrefix", func(s, t Value) Value {
		return boolean(isPrefix(s, t, "IsStrictPrefix") && s.Len() != t.Len())
	})
	m.f2("IsSuffix", func(s, t Value) Value { return boolean(isSuffix(s, t, "IsSuffix")) })
	m.f2("IsStrictSuffix", func(s, t Value) Value {
		return boolean(isSuffix(s, t, "IsStrictSuffix") && s.Len() != t.Len())
	})
	m.f1("Prefixes", func(s Value) Value {
		out := make([]Value, 0, len(wantSeq(s, "Prefixes"))+1)
		for i := range cap(out) {
			out = append(out, value.SubSeq(s, 1, int32(i)))
		}
		return value.SetOf(out)
	})
	m.f1("Suffixes", func(s Value) Value {
		n := len(wantSeq(s, "Suffixes"))
		out := make([]Value, 0, n+1)
		for i := range n + 1 {
			out = append(out, value.SubSeq(s, int32(i+1), int32(n)))
		}
		return value.SetOf(out)
	})
	m.f1("CommonPrefixes", func(s Value) Value {
		longest := commonPrefix(s, "CommonPrefixes")
		out := make([]Value, 0, longest.Len()+1)
		for i := range cap(out) {
			out = append(out, value.SubSeq(longest, 1, int32(i)))
		}
		return value.SetOf(out)
	})
	m.f1("LongestCommonPrefix", func(s Value) Value { return commonPrefix(s, "LongestCommonPrefix") })
	m.f1("FlattenSeq", func(s Value) Value {
		var out []Value
		parts := wantSeq(s, "FlattenSeq")
		if len(parts) > 0 && parts[0].Kind() == value.KindString {
			return value.String(strings.Join(wantStrings(parts, "FlattenSeq"), ""))
		}
		for _, part := range parts {
			out = append(out, wantSeq(part, "FlattenSeq")...)
		}
		return value.TupleOf(out)
	})
	m.f2("Zip", func(s, t Value) Value {
		a, b := wantSeq(s, "Zip"), wantSeq(t, "Zip")
		out := make([]Value, min(len(a), len(b)))
		for i := range out {
			out[i] = value.Tuple(a[i], b[i])
		}
		return value.TupleOf(out)
	})
	m.f2("Interleave", func(s, t Value) Value {
		a, b := wantSeq(s, "Interleave"), wantSeq(t, "Interleave")
		if len(a) != len(b) {
			value.Fail("Interleave: the sequences have %d and %d elements; expected as many", len(a), len(b))
		}
		out := make([]Value, 0, 2*len(a))
		for i := range a {
			out = append(out, value.Tuple(a[i]), value.Tuple(b[i]))
		}
		return value.TupleOf(out)
	})
	m.f1("SubSeqs", subSeqs)
	m.f1("AllSubSeqs", allSubSeqs)
	m.f2("IndexFirstSubSeq", func(s, t Value) Value {
		if s.Kind() == value.KindString {
			return indexString(s.AsString(), wantString(t, "IndexFirstSubSeq"))
		}
		at := indexSeq(wantSeq(s, "IndexFirstSubSeq"), wantSeq(t, "IndexFirstSubSeq"))
		if at < 0 {
			value.Fail("IndexFirstSubSeq: %s is no part of %s", value.Brief(s), value.Brief(t))
		}
		return value.Int(int32(at + 1))
	})
	m.f3("ReplaceFirstSubSeq", func(r, s, t Value) Value { return replaceSeq(r, s, t, 1, "ReplaceFirstSubSeq") })
	m.f3("ReplaceAllSubSeqs", func(r, s, t Value) Value { return replaceSeq(r, s, t, -1, "ReplaceAllSubSeqs") })
	m.f2("%%", func(a, b Value) Value {
		r := value.ModInt(wantInt(a, "%%"), wantInt(b, "%%"))
		if r == 0 {
			return b
		}
		return value.Int(r)
	})
	return m.ops
}

func equalAll(a, b []Value) bool { return slices.EqualFunc(a, b, value.Equal) }

func isPrefix(s, t Value, op string) bool {
	a, b := wantSeq(s, op), wantSeq(t, op)
	return len(a) <= len(b) && equalAll(a, b[:len(a)])
}

func isSuffix(s, t Value, op string) bool {
	a, b := wantSeq(s, op), wantSeq(t, op)
	return len(a) <= len(b) && equalAll(a, b[len(b)-len(a):])
}

// commonPrefix is the longest sequence that all sequences of a set start with.
func commonPrefix(s Value, op string) Value {
	seqs := wantSet(s, op).Elems()
	if len(seqs) == 0 {
		return value.Tuple()
	}
	common := wantSeq(seqs[0], op)
	for _, t := range seqs[1:] {
		es := wantSeq(t, op)
		n := 0
		for n < len(common) && n < len(es) && value.Equal(common[n], es[n]) {
			n++
		}
		common = common[:n]
	}
	return value.Tuple(common...)
}

// subSeqs is the set of contiguous subsequences.
func subSeqs(s Value) Value {
	n := int32(len(wantSeq(s, "SubSeqs")))
	out := collector{what: "SubSeqs(" + value.Brief(s) + ")"}
	out.add(value.Tuple())
	for i := int32(1); i <= n; i++ {
		for j := i; j <= n; j++ {
			out.add(value.SubSeq(s, i, j))
		}
	}
	return out.set()
}

// allSubSeqs is the set of all subsequences, contiguous or not.
func allSubSeqs(s Value) Value {
	out := collector{what: "AllSubSeqs(" + value.Brief(s) + ")"}
	out.add(value.Tuple())
	for _, x := range wantSeq(s, "AllSubSeqs") {
		for _, t := range out.elems[:len(out.elems):len(out.elems)] {
			out.add(value.Append(t, x))
		}
		out.elems = slices.Clone(out.set().Elems())
	}
	return out.set()
}

// indexSeq returns the index of the first occurrence of part in whole, or -1.
func indexSeq(part, whole []Value) int {
	for i := 0; i+len(part) <= len(whole); i++ {
		if equalAll(part, whole[i:i+len(part)]) {
			return i
		}
	}
	return -1
}

// indexString returns the index, in characters and from 1, of the first
// occurrence of part in whole. It fails if there is none.
func indexString(part, whole string) Value {
	at := strings.Index(whole, part)
	if at < 0 {
		value.Fail("IndexFirstSubSeq: %q is no part of %q", part, whole)
	}
	return value.Int(int32(utf8.RuneCountInString(whole[:at]) + 1))
}

// wantStrings converts values to Go strings and fails if one is not a string.
func wantStrings(vs []Value, op string) []string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = wantString(v, op)
	}
	return out
}

// replaceSeq replaces the first occurrences of s in t by r, from left to right,
// up to a maximum number. The empty sequence occurs before each element, and
// once in the empty sequence.
func replaceSeq(r, s, t Value, times int, op string) Value {
	if t.Kind() == value.KindString {
		return replaceString(wantString(r, op), wantString(s, op), t.AsString(), times, op)
	}
	with, part, rest := wantSeq(r, op), wantSeq(s, op), wantSeq(t, op)
	if len(part) == 0 {
		return spread(with, rest, times, op)
	}
	var out []Value
	for ; times != 0; times-- {
		at := indexSeq(part, rest)
		if at < 0 {
			break
		}
		out = append(append(out, rest[:at]...), with...)
		rest = rest[at+len(part):]
	}
	return value.TupleOf(append(out, rest...))
}

// spread inserts elements before each element of a sequence, or only before the
// first.
func spread(with, rest []Value, times int, op string) Value {
	if times > 0 || len(rest) == 0 {
		return value.TupleOf(append(slices.Clone(with), rest...))
	}
	if (len(with)+1)*len(rest) > value.MaxSetSize {
		value.Fail("%s: the result has more than %d elements", op, value.MaxSetSize)
	}
	out := make([]Value, 0, (len(with)+1)*len(rest))
	for _, x := range rest {
		out = append(append(out, with...), x)
	}
	return value.TupleOf(out)
}

// replaceBytesMax limits the length of strings that replacement makes.
const replaceBytesMax = 1 << 24

func replaceString(with, part, whole string, times int, op string) Value {
	occurs := min(strings.Count(whole, part), len(whole)+1)
	if times > 0 {
		occurs = min(occurs, times)
	}
	if len(whole)+occurs*len(with) > replaceBytesMax {
		value.Fail("%s: the result has more than %d bytes", op, replaceBytesMax)
	}
	out := strings.Replace(whole, part, with, times)
	if part == "" && times < 0 && whole != "" {
		out = strings.TrimSuffix(out, with) // Go also finds the empty string at the end
	}
	return value.String(out)
}
