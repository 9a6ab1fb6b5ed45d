// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"math/bits"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// Counts are counters since the server was opened.
type Counts struct {
	Accepted   uint64 // connections
	TurnedAway uint64 // connections for which there was no room
	Refused    uint64 // hellos
	Dropped    uint64 // connections ended by the server
	Invokes    uint64
	Notes      uint64
	Overflows  uint64 // listenings that were ended for want of room
	Full       uint64 // times that a connection took no more
	Writes     uint64 // pieces given to connections
	// BytesWritten is the bytes given to connections, RecordBytes those given to the log.
	BytesWritten, RecordBytes uint64
	Records, Commits          uint64
	Checkpoints               uint64
	// Batches counts commits by their number of records: class i has those with
	// fewer than 2^i that are in no lower class.
	Batches [batchClasses]uint64
}

const batchClasses = 20

func batchClass(n uint64) int { return min(bits.Len64(n), batchClasses-1) }

// The requests are counted by kind and status.
const (
	kindsMax    = 16
	statusesMax = 32
)

func (s *Server) count(k wor.Kind, status wor.Status) {
	s.kinds[min(k, kindsMax-1)][min(status, statusesMax-1)]++
}

// KindCount counts requests of one kind that were answered with one status.
type KindCount struct {
	Kind   wor.Kind
	Status wor.Status
	Count  uint64
}

// PartitionStatus is the state of a partition on a server.
type PartitionStatus struct {
	Partition wor.Partition
	Epoch     wor.Epoch
	// Standing is wor.StatusOK if the server serves, otherwise the status that
	// it answers.
	Standing wor.Status
	// Unsure: it is mute, because not enough peers have confirmed that its disk
	// is up to date.
	Unsure  bool
	Members []wor.Member
	Tainted bool
	Bytes   int64
}

// Status is the state of a server.
type Status struct {
	ID         wor.ServerID
	Name       string
	Cluster    uint64
	Addr       env.Addr
	Generation uint64
	// Position counts the durable records, Pending the bytes of those that are
	// not durable yet.
	Position uint64
	Pending  int64
	// Warnings are for the operator: the server is in memory, did not ask its
	// peers, or has a disk that is too old or has failed.
	Warnings   []string
	RolledBack string
	Failed     error
	// Full: the disk has no room for the log, and requests are answered StatusBusy
	// until it has.
	Full     bool
	Draining bool
	// Witnesses are the peers that have written the present life down.
	Witnesses []wor.ServerID
	// Trouble is why a connection was last ended.
	Trouble    string
	Partitions []PartitionStatus
	Requests   []KindCount
	Conns      int
	Load       int   // bytes that wait on all connections
	Held       int   // connections with replies that wait for a commit
	Invokes    int   // running
	Listens    int   // listenings
	Bytes      int64 // bytes of the state
	MaxBytes   int64
	Counts     Counts
}

// Configs returns the newest configurations that the server was given, one per
// partition.
func (s *Server) Configs() []wor.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []wor.Config
	for _, p := range s.registers.all() {
		out = append(out, *p.group.Config())
	}
	return out
}

// Status returns the state of the server.
func (s *Server) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := Status{ID: s.id, Name: s.name, Cluster: s.opt.Genesis.Cluster, Addr: s.addr(), Generation: s.generation,
		Position: s.commits.durable(), Pending: s.commits.waiting(), RolledBack: s.witness.denial(), Failed: s.failed, Full: s.commits.blocked(), Draining: s.drain.underway(),
		Witnesses: s.witness.witnesses(), Trouble: s.trouble, Conns: s.conns.count(), Load: s.conns.waiting(), Held: s.commits.held(), Invokes: s.services.calls(),
		Listens: s.listeners.number(), Bytes: s.registers.size(), MaxBytes: s.opt.MaxBytes, Counts: s.counts}
	if s.opt.Memory {
		t.Warnings = append(t.Warnings, "IN MEMORY: nothing is durable, what is acknowledged is lost with this process")
	}
	if s.opt.Alone {
		t.Warnings = append(t.Warnings, "ALONE: answers without having asked its peers whether its disk is the newest")
	}
	if s.witness.denial() != "" {
		t.Warnings = append(t.Warnings, "MUTE: "+s.witness.denial())
	}
	if s.commits.blocked() {
		t.Warnings = append(t.Warnings, "FULL: the disk has no room for the log: requests are refused here until it has")
	}
	if s.registers.size() >= s.opt.MaxBytes/10*7 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("PRESSED: registers take %d of MaxBytes, %d: beyond three quarters, writes are refused; trim logs and segments",
			s.registers.size(), s.opt.MaxBytes))
	}
	if s.failed != nil {
		t.Warnings = append(t.Warnings, "FAILED: "+s.failed.Error())
	}
	for _, p := range s.registers.all() {
		c := p.group.Config()
		t.Partitions = append(t.Partitions, PartitionStatus{Partition: p.number, Epoch: c.Epoch, Standing: p.group.Status(),
			Unsure: p.mute, Members: append([]wor.Member(nil), c.Members...), Tainted: c.Tainted, Bytes: p.bytes})
	}
	for k := range s.kinds {
		for status, n := range s.kinds[k] {
			if n > 0 {
				t.Requests = append(t.Requests, KindCount{wor.Kind(k), wor.Status(status), n})
			}
		}
	}
	return t
}
