// SPDX-License-Identifier: Apache-2.0

package paxos

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The records of the log. A record begins with its tag; numbers are uvarints.
//
//	promise    segment, first register, how many, round, nonce (8 bytes, little-endian)
//	accept     the same, then the value up to the end
//	tombstone  first segment, how many more
//
// A promise may cover registers that have promised more: it means "at least".
const (
	tagPromise   = 1
	tagAccept    = 2
	tagTombstone = 3
)

func appendRegisters(dst []byte, tag byte, s wor.Segment, lo, hi int, b wor.Ballot) []byte {
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(s))
	dst = binary.AppendUvarint(dst, uint64(lo))
	dst = binary.AppendUvarint(dst, uint64(hi-lo))
	dst = binary.AppendUvarint(dst, b.Round)
	return binary.LittleEndian.AppendUint64(dst, b.Nonce)
}

func promiseRecord(dst []byte, s wor.Segment, lo, hi int, b wor.Ballot) []byte {
	return appendRegisters(dst, tagPromise, s, lo, hi, b)
}

func acceptRecord(dst []byte, s wor.Segment, lo, hi int, b wor.Ballot, v []byte) []byte {
	return append(appendRegisters(dst, tagAccept, s, lo, hi, b), v...)
}

func trimRecord(dst []byte, x stretch) []byte {
	dst = binary.AppendUvarint(append(dst, tagTombstone), uint64(x.lo))
	return binary.AppendUvarint(dst, uint64(x.hi-x.lo))
}

// errRecord is wrapped by the errors of Redo.
var errRecord = errors.New("paxos: not a record")

// decoder decodes a record; bad is set when it ends too early.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return x
}

func (d *decoder) fixed() uint64 {
	if len(d.rest) < 8 {
		d.bad, d.rest = true, nil
		return 0
	}
	x := binary.LittleEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return x
}

// Redo repeats a record. Records may be repeated out of order and more than
// once. An error means that the bytes are not a record, or that they contradict
// another one, which a sound log never does; the state is then unchanged. The
// caller keeps ownership of the record.
func (a *Acceptor) Redo(record []byte) error {
	if len(record) == 0 {
		return fmt.Errorf("%w: it is empty", errRecord)
	}
	d := decoder{rest: record[1:]}
	switch record[0] {
	case tagPromise, tagAccept:
		return a.redoRegisters(record[0], &d)
	case tagTombstone:
		lo, more := d.uvarint(), d.uvarint()
		if d.bad || len(d.rest) > 0 || lo+more < lo {
			return fmt.Errorf("%w: a tombstone of %d bytes", errRecord, len(record))
		}
		a.bury(stretch{wor.Segment(lo), wor.Segment(lo + more)})
		return nil
	}
	return fmt.Errorf("%w: it begins with %d", errRecord, record[0])
}

func (a *Acceptor) redoRegisters(tag byte, d *decoder) error {
	number := wor.Segment(d.uvarint())
	lo, count := d.uvarint(), d.uvarint()
	b := wor.Ballot{Round: d.uvarint(), Nonce: d.fixed()}
	const end = 1<<32 - 1
	switch {
	case d.bad:
		return fmt.Errorf("%w: it ends too early", errRecord)
	case count == 0 || count > wor.RangeMax || lo > end || lo+count > end:
		return fmt.Errorf("%w: registers %d and %d more", errRecord, lo, count)
	case tag == tagPromise && (len(d.rest) > 0 || b.IsZero()):
		return fmt.Errorf("%w: a promise of %v and %d bytes", errRecord, b, len(d.rest))
	case len(d.rest) > wor.ValueMax:
		return fmt.Errorf("%w: a value of %d bytes", errRecord, len(d.rest))
	}
	if a.trimmed.has(number) {
		return nil
	}
	if tag == tagPromise {
		a.promise(number, int(lo), int(lo+count), b)
		return nil
	}
	return a.merge(number, int(lo), int(lo+count), b, d.rest)
}

// merge makes registers hold v, where they hold nothing of a higher ballot. The
// value is copied.
func (a *Acceptor) merge(number wor.Segment, lo, hi int, b wor.Ballot, v []byte) error {
	s := a.find(number)
	for i := lo; i < hi; i++ {
		if p := s.page(i); p != nil {
			if at, w := p.accepted(i % pageSize); w != nil && at == b && !bytes.Equal(v, w) {
				return fmt.Errorf("%w: a different value of register %v at ballot %v",
					errRecord, wor.Addr{Segment: number, Offset: uint32(i)}, b)
			}
		}
	}
	var kept []byte
	for i := lo; i < hi; i++ {
		if p := s.page(i); p != nil {
			if at, w := p.accepted(i % pageSize); w != nil && !at.Less(b) {
				continue
			}
		}
		if kept == nil {
			kept = append(make([]byte, 0, len(v)), v...)
			s = a.open(number)
		}
		a.accept(s, i, b, kept)
	}
	return nil
}
