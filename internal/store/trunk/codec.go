// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// A node in the table of the store: level u8, pivots u16, and for each pivot
// its Lo (u16 and bytes), the child's number (u64, 0: none), and its
// references (u16), each with the branch's number (u64), bytes (u64) and
// whether it is a base (u8). Little endian.

// Limits of a node that is read.
const (
	levelMax  = 16
	pivotsMax = 1 << 14
)

// Append appends the encoding of the node without its children.
func (n *Node) Append(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, byte(n.Level))
	dst = le.AppendUint16(dst, uint16(len(n.Pivots)))
	for i := range n.Pivots {
		p := &n.Pivots[i]
		dst = le.AppendUint16(dst, uint16(len(p.Lo)))
		dst = append(dst, p.Lo...)
		var child uint64
		if p.Child != nil {
			child = p.Child.ID
		}
		dst = le.AppendUint64(dst, child)
		dst = le.AppendUint16(dst, uint16(len(p.Refs)))
		for _, r := range p.Refs {
			dst = le.AppendUint64(dst, r.Branch.Meta.ID)
			dst = le.AppendUint64(dst, uint64(r.Bytes))
			base := byte(0)
			if r.Base {
				base = 1
			}
			dst = append(dst, base)
		}
	}
	return dst
}

// Source gives what a node refers to: the encoding of another node, and
// branches.
type Source interface {
	Node(id uint64) (body []byte, ok bool)
	Branch(id uint64) (b *Branch, ok bool)
}

// Decode builds the node of that number and all below it. An error says what
// in the encoding is impossible.
func Decode(id uint64, from Source) (*Node, error) {
	n, err := decode(id, -1, from)
	if err != nil {
		return nil, err
	}
	return n, n.Validate()
}

func decode(id uint64, level int, from Source) (*Node, error) {
	body, ok := from.Node(id)
	if !ok {
		return nil, fmt.Errorf("trunk node %d: not in the table", id)
	}
	r := reader{b: body}
	n := &Node{ID: id, Level: int(r.u8())}
	if n.Level > levelMax || (level >= 0 && n.Level != level) {
		return nil, fmt.Errorf("trunk node %d: level %d, expected %d", id, n.Level, level)
	}
	count := int(r.u16())
	if count == 0 || count > pivotsMax {
		return nil, fmt.Errorf("trunk node %d: %d pivots, expected 1 to %d", id, count, pivotsMax)
	}
	for i := 0; i < count && !r.short; i++ {
		p := Pivot{Lo: bytes.Clone(r.bytes(int(r.u16())))}
		child := r.u64()
		if (child != 0) != (n.Level > 0) && !r.short {
			return nil, fmt.Errorf("trunk node %d: pivot %d at level %d has child %d", id, i, n.Level, child)
		}
		refs := int(r.u16())
		for k := 0; k < refs && !r.short; k++ {
			b := r.u64()
			ref := Ref{Bytes: int64(r.u64()), Base: r.u8() == 1}
			if r.short {
				break
			}
			if ref.Branch, ok = from.Branch(b); !ok {
				return nil, fmt.Errorf("trunk node %d: pivot %d refers to branch %d, which is not in the table", id, i, b)
			}
			p.Refs = append(p.Refs, ref)
		}
		if child != 0 && !r.short {
			c, err := decode(child, n.Level-1, from)
			if err != nil {
				return nil, err
			}
			p.Child = c
		}
		n.Pivots = append(n.Pivots, p)
	}
	if r.short || len(r.b) > 0 {
		return nil, fmt.Errorf("trunk node %d: %d bytes do not hold %d pivots", id, len(body), count)
	}
	return n, nil
}

type reader struct {
	b     []byte
	short bool
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.b) {
		r.short, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Validate says whether the tree is one: pivots in order and within their
// parent's range, references from the newest to the oldest on every way down.
func (n *Node) Validate() error {
	seen := map[uint64]bool{}
	return n.validate(nil, nil, message.MaxSeq, seen)
}

func (n *Node) validate(lo, hi []byte, newest message.Seq, seen map[uint64]bool) error {
	if seen[n.ID] {
		return fmt.Errorf("trunk node %d is in the tree twice", n.ID)
	}
	seen[n.ID] = true
	if len(n.Pivots) == 0 || !bytes.Equal(n.Pivots[0].Lo, lo) {
		return fmt.Errorf("trunk node %d: does not begin at %q", n.ID, lo)
	}
	for i := range n.Pivots {
		p := &n.Pivots[i]
		from, to := n.bounds(i, hi)
		if to != nil && bytes.Compare(from, to) >= 0 {
			return fmt.Errorf("trunk node %d: pivot %d has the empty range [%q, %q)", n.ID, i, from, to)
		}
		least := newest
		base := false
		for k, r := range p.Refs {
			m := &r.Branch.Meta
			if base && !r.Base {
				return fmt.Errorf("trunk node %d: pivot %d: reference %d is below a base", n.ID, i, k)
			}
			// Bases of pivots that were joined share no keys, and have no
			// order among each other.
			if m.MaxSeq > least && !r.Base {
				return fmt.Errorf("trunk node %d: pivot %d: branch %d has change %d, but a branch above it starts at %d", n.ID, i, m.ID, m.MaxSeq, least)
			}
			base = r.Base
			least = min(least, m.MinSeq)
		}
		if p.Child == nil {
			continue
		}
		if p.Child.Level != n.Level-1 {
			return fmt.Errorf("trunk node %d: child %d has level %d, its parent has level %d", n.ID, p.Child.ID, p.Child.Level, n.Level)
		}
		if err := p.Child.validate(from, to, least, seen); err != nil {
			return err
		}
	}
	return nil
}
