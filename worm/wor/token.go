package wor

// Adopted is a register of a token for which phase 1 saw a value: who writes
// with the token must write that value there, and nothing else.
type Adopted struct {
	Offset uint32
	Value  []byte
}

// Token is what a capture returns: the captureID of the paper, together with what
// phase 1 saw, without which it is not safe (rule a). It is for all registers of
// the range; those in Adopted are not free. It may be handed to another client,
// whole or in parts, but for each register only one holder may use it, with one
// value.
type Token struct {
	Range    Range
	Protocol Protocol
	// Epoch is the epoch of the registers' partition in which it was captured.
	// In another one the token does not serve any more.
	Epoch  Epoch
	Ballot Ballot
	// Adopted is sorted by offset.
	Adopted []Adopted
}

// Covers says whether the token is for the register.
func (t *Token) Covers(a Addr) bool {
	return a.Segment == t.Range.Segment && a.Offset >= t.Range.Lo && a.Offset < t.Range.Hi
}

// Find is what must be written at the offset; free when anything may.
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

// Part is the token for a part of its range, to be handed on.
func (t *Token) Part(r Range) *Token {
	p := &Token{Range: r, Protocol: t.Protocol, Epoch: t.Epoch, Ballot: t.Ballot}
	for _, a := range t.Adopted {
		if a.Offset >= r.Lo && a.Offset < r.Hi {
			p.Adopted = append(p.Adopted, a)
		}
	}
	return p
}
