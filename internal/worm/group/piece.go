// SPDX-License-Identifier: Apache-2.0

package group

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The state of a partition travels in pieces. A piece is states one after the
// other, in the order of addresses, and a tombstone is where its segment
// begins. A state is
//
//	flags    1 byte: the protocol in the lower two bits, then the three below
//	segment  8 bytes
//	offset   4 bytes, 0 with flagTrimmed
//	length   4 bytes, and as many bytes of value    only with flagWritten
//	ballot   round and nonce, 8 bytes each          only with flagBallot
//
// with little endian numbers. Exactly one of flagTrimmed and flagWritten is set:
// promises do not travel. There is one encoding of a state; how states are cut
// into pieces means nothing.
const (
	flagTrimmed byte = 1 << (iota + 2)
	flagWritten
	flagBallot

	protocolBits byte = 3
)

// PieceMax is the longest piece, in bytes.
const PieceMax = wor.ReplyMax

// errPiece: bytes are not a piece of a state.
var errPiece = errors.New("group: not a piece of a state")

// State is a wor.State that is written or trimmed, with the protocol of its
// segment. The protocol is Paxos for a register that is not a data register,
// and for a tombstone of a segment of protocol Fast, because one server stores
// both.
type State struct {
	Protocol wor.Protocol
	wor.State
}

// key orders states: by address; if both servers have the segment, the
// acceptor's states come first.
type key struct {
	addr  wor.Addr
	chain bool
}

func (k key) compare(l key) int {
	order := func(chain bool) int {
		if chain {
			return 1
		}
		return 0
	}
	return cmp.Or(k.addr.Compare(l.addr), cmp.Compare(order(k.chain), order(l.chain)))
}

func (s *State) key() key { return key{s.Addr, s.Protocol == wor.Chain} }

// size is the length of the encoding.
func (s *State) size() int {
	n := 1 + 8 + 4
	if s.Written {
		n += 4 + len(s.Value)
		if !s.Accepted.IsZero() {
			n += 16
		}
	}
	return n
}

// AppendState appends a state, which must be written or trimmed, to a piece.
func AppendState(b []byte, s *State) []byte {
	flags := byte(s.Protocol)
	if s.Trimmed {
		b = append(b, flags|flagTrimmed)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.Addr.Segment))
		return binary.LittleEndian.AppendUint32(b, 0)
	}
	flags |= flagWritten
	if !s.Accepted.IsZero() {
		flags |= flagBallot
	}
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Addr.Segment))
	b = binary.LittleEndian.AppendUint32(b, s.Addr.Offset)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Value)))
	b = append(b, s.Value...)
	if flags&flagBallot != 0 {
		b = binary.LittleEndian.AppendUint64(b, s.Accepted.Round)
		b = binary.LittleEndian.AppendUint64(b, s.Accepted.Nonce)
	}
	return b
}

// NextState decodes the first state of a piece and returns the rest. The value
// refers to the piece.
func NextState(b []byte) (s State, rest []byte, err error) {
	if len(b) < 1+8+4 {
		return s, nil, errPiece
	}
	flags := b[0]
	s.Protocol = wor.Protocol(flags & protocolBits)
	s.Addr.Segment = wor.Segment(binary.LittleEndian.Uint64(b[1:]))
	s.Addr.Offset = binary.LittleEndian.Uint32(b[9:])
	b = b[13:]
	if !s.Protocol.Valid() {
		return s, nil, errPiece
	}
	switch flags &^ protocolBits {
	case flagTrimmed:
		s.Trimmed = true
		if s.Addr.Offset != 0 {
			return s, nil, errPiece
		}
		return s, b, nil
	case flagWritten, flagWritten | flagBallot:
		s.Written = true
	default:
		return s, nil, errPiece
	}
	if len(b) < 4 {
		return s, nil, errPiece
	}
	n := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if n > wor.ValueMax || int(n) > len(b) {
		return s, nil, errPiece
	}
	s.Value, b = b[:n:n], b[n:]
	if flags&flagBallot != 0 {
		if len(b) < 16 {
			return s, nil, errPiece
		}
		s.Accepted = wor.Ballot{Round: binary.LittleEndian.Uint64(b), Nonce: binary.LittleEndian.Uint64(b[8:])}
		if b = b[16:]; s.Accepted.IsZero() {
			return s, nil, errPiece
		}
	}
	return s, b, nil
}
