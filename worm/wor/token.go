// SPDX-License-Identifier: Apache-2.0

package wor

// Adopted is a register of a token for which phase 1 saw a value: the holder of
// the token must write that value there, and no other.
type Adopted struct {
	Offset uint32
	Value  []byte
}

// Token is the result of a capture: the captureID of the paper, together with
// the values that phase 1 saw, without which it is not safe (rule a). It covers
// all registers of the range; those in Adopted are not free. It may be passed
// to another client, whole or in parts, but for each register only one holder
// may use it, with one value.
type Token struct {
	Range    Range
	Protocol Protocol
	// Epoch is the epoch of the registers' partition at the capture. In another
	// epoch the token is invalid.
	Epoch  Epoch
	Ballot Ballot
	// Adopted is sorted by offset.
	Adopted []Adopted
}

// Covers reports whether the token covers the register.
func (t *Token) Covers(a Addr) bool {
	return a.Segment == t.Range.Segment && a.Offset >= t.Range.Lo && a.Offset < t.Range.Hi
}

// Find returns the value that must be written at the offset; free reports that
// any value may.
func (t *Token) Find(offset uint32) (value []byte, free bool) {
	lo, hi := 0, len(t.Adopted)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.Adopted[mid].Offset < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(t.Adopted) && t.Adopted[lo].Offset == offset {
		return t.Adopted[lo].Value, false
	}
	return nil, true
}

// Part returns the token for a part of its range, to pass to another client.
func (t *Token) Part(r Range) *Token {
	p := &Token{Range: r, Protocol: t.Protocol, Epoch: t.Epoch, Ballot: t.Ballot}
	for _, a := range t.Adopted {
		if a.Offset >= r.Lo && a.Offset < r.Hi {
			p.Adopted = append(p.Adopted, a)
		}
	}
	return p
}
