// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// A record in the log begins with its kind.
const (
	recordGroup   byte = iota + 1 // uvarint of the partition; the group's record
	recordWitness                 // a sighting; of the server itself, a life that began there
	recordCluster                 // the cluster's number; what was seen before is of another one
	recordBehind                  // a member has seen that the disk is not the newest; why, as text
)

// batch collects records of several kinds; it is a wal.Records.
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
		if n >= uint64(s.registers.count()) {
			return fmt.Errorf("%w: it is of partition %d, but the genesis has %d partitions", errRecord, n, s.registers.count())
		}
		if err := s.registers.part(wor.Partition(n)).group.Redo(body[size:]); err != nil {
			return fmt.Errorf("partition %d: %w", n, err)
		}
		return nil
	case recordWitness:
		id, seen, err := decodeSighting(body)
		if err == nil {
			s.witness.redo(id, seen)
		}
		return err
	case recordCluster:
		if len(body) != 8 {
			return errRecord
		}
		s.cluster = binary.LittleEndian.Uint64(body)
		s.witness.forget()
		return nil
	case recordBehind:
		s.witness.redoDenial(string(body))
		return nil
	}
	return errRecord
}

// belong checks whether the directory is of this cluster, and writes down that
// it is. After a restore it begins anew: earlier sightings of servers may be of
// a history that the servers no longer have.
func (s *Server) belong() error {
	g := s.opt.Genesis
	switch {
	case s.cluster == g.Cluster:
		return nil
	case s.cluster != 0 && !slices.Contains(g.Restored, s.cluster):
		return fmt.Errorf("%w: the directory belongs to cluster %016x, but the description is of cluster %016x", ErrCluster, s.cluster, g.Cluster)
	}
	s.cluster = g.Cluster
	s.witness.forget()
	s.commits.stage(recordCluster, 0, s.clusterRecord())
	return nil
}

func (s *Server) clusterRecord() []byte { return binary.LittleEndian.AppendUint64(nil, s.cluster) }

// ErrCluster: the directory belongs to another cluster.
var ErrCluster = errors.New("another cluster")

// identityMagic begins what Format writes into a log: it marks the log of a
// server; the seed of its key and its name follow.
const identityMagic = "worm/node 2 "

// NameMax is the longest name of a server, in bytes.
const NameMax = wor.NameMax

// Format makes the log of a new server in a directory, and draws its key, from
// which its identity derives. The name is for people. When it returns, the log
// is durable. It is an error if the directory has a log.
func Format(world env.Env, dir, name string) (wor.ServerID, error) {
	if len(name) > NameMax {
		return 0, &wor.LimitError{Name: "NameMax", Limit: NameMax, Got: int64(len(name))}
	}
	key := NewKey(world.Random.Split("identity"))
	b := append([]byte(identityMagic), key.private.Seed()...)
	if err := wal.Format(world, dir, append(b, name...)); err != nil {
		return 0, err
	}
	return key.ID(), nil
}

// identity returns the key and the name that Format gave a directory.
func identity(b []byte) (Key, string, error) {
	rest, ok := bytes.CutPrefix(b, []byte(identityMagic))
	if !ok || len(rest) < ed25519.SeedSize {
		return Key{}, "", fmt.Errorf("the log does not belong to a server, or an earlier version wrote it: %w", wal.ErrCorrupt)
	}
	return Key{ed25519.NewKeyFromSeed(rest[:ed25519.SeedSize])}, string(rest[ed25519.SeedSize:]), nil
}

// ReadKey returns the key of the server in a directory, for a server that keeps
// nothing else there (Options.Key).
func ReadKey(world env.Env, dir string) (Key, error) {
	log, err := wal.Open(world, dir, wal.Options{})
	if err != nil {
		return Key{}, err
	}
	key, _, err := identity(log.Identity())
	return key, errors.Join(err, log.Close())
}
