package node

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A record in the log begins with what it is of.
const (
	recordGroup   byte = iota + 1 // uvarint of the partition; the group's record
	recordWitness                 // a sighting
	recordBehind                  // the disk is not the newest; why, as text
)

// batch collects records of several origins; it is a wal.Records.
type batch struct {
	buf  []byte
	ends []int
}

func (b *batch) add(kind byte, n wor.Partition, record []byte) {
	b.buf = append(b.buf, kind)
	if kind == recordGroup {
		b.buf = binary.AppendUvarint(b.buf, uint64(n))
	}
	b.buf = append(b.buf, record...)
	b.ends = append(b.ends, len(b.buf))
}

func (b *batch) Len() int { return len(b.ends) }

func (b *batch) Record(i int) []byte {
	if i == 0 {
		return b.buf[:b.ends[0]]
	}
	return b.buf[b.ends[i-1]:b.ends[i]]
}

func (b *batch) reset() {
	if cap(b.buf) > outKeep {
		b.buf = nil
	}
	b.buf, b.ends = b.buf[:0], b.ends[:0]
}

var errRecord = errors.New("not a record of a server")

// redo repeats a record.
func (s *Server) redo(record []byte) error {
	if len(record) == 0 {
		return errRecord
	}
	body := record[1:]
	switch record[0] {
	case recordGroup:
		n, size := binary.Uvarint(body)
		if size <= 0 {
			return errRecord
		}
		if n >= uint64(len(s.parts)) {
			return fmt.Errorf("%w: of partition %d, and the genesis has %d", errRecord, n, len(s.parts))
		}
		if err := s.parts[n].group.Redo(body[size:]); err != nil {
			return fmt.Errorf("partition %d: %w", n, err)
		}
		return nil
	case recordWitness:
		id, seen, err := decodeSighting(body)
		if err == nil {
			s.seen[id] = seen
		}
		return err
	case recordBehind:
		s.rolledBack = string(body)
		return nil
	}
	return errRecord
}

// identityMagic begins what Format writes into a log: that it is a server's; its
// identity and its name follow.
const identityMagic = "worm/node 1 "

// NameMax is the longest name of a server, in bytes.
const NameMax = wor.NameMax

// Format makes the log of a new server in a directory, and draws its identity.
// The name is for people. When it returns, that is durable. A directory that has
// a log is an error.
func Format(world env.Env, dir, name string) (wor.ServerID, error) {
	if len(name) > NameMax {
		return 0, &wor.LimitError{Name: "NameMax", Limit: NameMax, Got: int64(len(name))}
	}
	id := uint64(0)
	for random := world.Random.Split("identity"); id == 0; {
		id = random.Uint64()
	}
	b := binary.LittleEndian.AppendUint64([]byte(identityMagic), id)
	if err := wal.Format(world, dir, append(b, name...)); err != nil {
		return 0, err
	}
	return wor.ServerID(id), nil
}

// identity is the identity and the name that Format gave a directory.
func identity(b []byte) (wor.ServerID, string, error) {
	if len(b) < len(identityMagic)+8 || string(b[:len(identityMagic)]) != identityMagic {
		return 0, "", fmt.Errorf("the log is not that of a server: %w", wal.ErrCorrupt)
	}
	b = b[len(identityMagic):]
	return wor.ServerID(binary.LittleEndian.Uint64(b)), string(b[8:]), nil
}
