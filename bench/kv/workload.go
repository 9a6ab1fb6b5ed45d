// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// opKind is what one operation does.
type opKind uint8

const (
	opRead   opKind = iota
	opAbsent        // read a key that was never put
	opUpdate        // put another version, blindly
	opInsert
	opModify // read a record and put another version of it
	opMerge
	opScan
	opKinds
)

func (k opKind) String() string {
	return [...]string{"read", "absent", "update", "insert", "modify", "merge", "scan"}[k]
}

// share is how many of a hundred operations are of a kind.
type share struct {
	Kind    opKind
	Percent uint64
}

// workload is one phase of the benchmark. YCSB's have YCSB's letters.
type workload struct {
	Name, Title string
	Mix         []share
	Pick        picks
	// Scale is the number of operations as a multiple of -ops; 0: one for each
	// record.
	Scale float64
	// Warm is the part of the operations, 0 to 1, that come before what is
	// measured.
	Warm float64
	// Full is a scan over everything, Recover a crash and an open after it.
	Full, Recover bool
}

// scanMax is the longest short scan; lengths are uniform from 1 on.
const scanMax = 100

// workloads are all, in the order in which they run by default.
func workloads() []workload {
	return []workload{
		{Name: "load", Title: "insert every record, in random order of keys", Mix: []share{{opInsert, 100}}},
		{Name: "A", Title: "50 % read, 50 % update, Zipfian", Mix: []share{{opRead, 50}, {opUpdate, 50}}, Pick: pickZipfian, Scale: 1},
		{Name: "B", Title: "95 % read, 5 % update, Zipfian", Mix: []share{{opRead, 95}, {opUpdate, 5}}, Pick: pickZipfian, Scale: 1},
		{Name: "C", Title: "read, Zipfian, caches cold", Mix: []share{{opRead, 100}}, Pick: pickZipfian, Scale: 1},
		{Name: "steady", Title: "read, Zipfian, the last quarter of a long run", Mix: []share{{opRead, 100}}, Pick: pickZipfian, Scale: 20, Warm: 0.75},
		{Name: "D", Title: "95 % read of the latest, 5 % insert", Mix: []share{{opRead, 95}, {opInsert, 5}}, Pick: pickLatest, Scale: 1},
		{Name: "E", Title: fmt.Sprintf("95 %% scan of 1 to %d records, 5 %% insert, Zipfian", scanMax), Mix: []share{{opScan, 95}, {opInsert, 5}}, Pick: pickZipfian, Scale: 0.1},
		{Name: "F", Title: "50 % read, 50 % read-modify-write, Zipfian", Mix: []share{{opRead, 50}, {opModify, 50}}, Pick: pickZipfian, Scale: 1},
		{Name: "U", Title: "read, uniform", Mix: []share{{opRead, 100}}, Scale: 1},
		{Name: "N", Title: "read of absent keys, uniform", Mix: []share{{opAbsent, 100}}, Scale: 5},
		{Name: "S", Title: "one scan over everything, in records", Full: true},
		{Name: "M", Title: "merge, uniform; without a merge operator read and put", Mix: []share{{opMerge, 100}}, Scale: 10},
		{Name: "W", Title: "overwrite, uniform", Mix: []share{{opUpdate, 100}}, Scale: 10},
		{Name: "R", Title: "open after a kill, with half of -memory written before", Mix: []share{{opInsert, 100}}, Recover: true},
	}
}

func workloadNamed(name string) (workload, bool) {
	for _, w := range workloads() {
		if w.Name == name {
			return w, true
		}
	}
	return workload{}, false
}

// ops is how many operations a phase has.
func (w workload) ops(base, records int64) int64 {
	if w.Scale == 0 {
		return records
	}
	return max(1, int64(w.Scale*float64(base)))
}

// writes reports whether the phase changes records, blind whether it never reads
// what it may have written.
func (w workload) writes() bool {
	for _, s := range w.Mix {
		switch s.Kind {
		case opUpdate, opInsert, opModify, opMerge:
			return true
		}
	}
	return false
}

func (w workload) blind() bool {
	for _, s := range w.Mix {
		if s.Kind != opUpdate && s.Kind != opInsert {
			return false
		}
	}
	return len(w.Mix) > 0
}

// kind draws what the next operation does.
func (w workload) kind(s *source) opKind {
	if len(w.Mix) == 1 {
		return w.Mix[0].Kind
	}
	n := s.below(100)
	for _, m := range w.Mix {
		if n < m.Percent {
			return m.Kind
		}
		n -= m.Percent
	}
	return w.Mix[len(w.Mix)-1].Kind
}
