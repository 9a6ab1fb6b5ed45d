// SPDX-License-Identifier: Apache-2.0

package chain

import (
	"encoding/binary"
	"errors"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A record is a byte for the kind and the segment's number; then, except in a
// tombstone, the range and the ballot; then, in a write, the value up to the end.
// Numbers are little-endian and of fixed length.
const (
	recordPromise byte = 'p'
	recordAccept  byte = 'a'
	recordTrim    byte = 't'
)

const (
	trimLen  = 1 + 8
	rangeLen = trimLen + 4 + 4 + 8 + 8
)

var errRecord = errors.New("chain: not a record of a replica")

type record struct {
	kind    byte
	segment wor.Segment
	at      span
	value   []byte
}

func appendTrim(b []byte, n wor.Segment) []byte {
	return binary.LittleEndian.AppendUint64(append(b, recordTrim), uint64(n))
}

func appendRange(b []byte, kind byte, n wor.Segment, at span) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, kind), uint64(n))
	b = binary.LittleEndian.AppendUint32(b, at.lo)
	b = binary.LittleEndian.AppendUint32(b, at.hi)
	b = binary.LittleEndian.AppendUint64(b, at.ballot.Round)
	return binary.LittleEndian.AppendUint64(b, at.ballot.Nonce)
}

func appendPromise(b []byte, n wor.Segment, at span) []byte {
	return appendRange(b, recordPromise, n, at)
}

func appendAccept(b []byte, n wor.Segment, at span, value []byte) []byte {
	return append(appendRange(b, recordAccept, n, at), value...)
}

// decodeRecord checks a record; its value refers to the bytes.
func decodeRecord(b []byte) (record, error) {
	if len(b) < trimLen {
		return record{}, errRecord
	}
	x := record{kind: b[0], segment: wor.Segment(binary.LittleEndian.Uint64(b[1:]))}
	if x.kind == recordTrim {
		if len(b) != trimLen {
			return record{}, errRecord
		}
		return x, nil
	}
	if len(b) < rangeLen {
		return record{}, errRecord
	}
	x.at = span{
		binary.LittleEndian.Uint32(b[9:]), binary.LittleEndian.Uint32(b[13:]),
		wor.Ballot{Round: binary.LittleEndian.Uint64(b[17:]), Nonce: binary.LittleEndian.Uint64(b[25:])},
	}
	x.value = b[rangeLen:]
	// Promises that came in parts are merged, so that a range may be as long as
	// a segment.
	ok := x.at.lo < x.at.hi && x.at.hi <= wor.SegmentMax && len(x.value) <= wor.ValueMax &&
		(x.kind == recordAccept && x.at.hi-x.at.lo <= wor.RangeMax || x.kind == recordPromise && len(x.value) == 0 && !x.at.ballot.IsZero())
	if !ok {
		return record{}, errRecord
	}
	return x, nil
}
