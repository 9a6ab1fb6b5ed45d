// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
)

// The engines.
const (
	ashlar = "ashlar"
	etcd   = "etcd"
	redis  = "redis"
)

// The modes: whether an acknowledgement means that it is on disks.
const (
	inMemory = "memory"
	durable  = "durable"
)

// operation is what clients do.
type operation struct {
	Name  string
	Title string
	// Peers have something of the kind.
	Peers []string
	// Writes: what is done is kept; otherwise it is the same in both modes, and
	// measured in memory only.
	Writes bool
}

func operations() []operation {
	return []operation{
		{"write", "write of a register of a captured segment; etcd: put; Redis: SET", []string{etcd, redis}, true},
		{"once", "a write that fails where something is, without a capture (fast quorum); etcd: txn; Redis: SET NX", []string{etcd, redis}, true},
		{"append", "append to a log, two round trips; etcd: put, whose revision is the position; Redis: XADD", []string{etcd, redis}, true},
		{"append1", "append to a log with positions fetched ahead, one round trip", nil, true},
		{"read", "read of a decided register, from the servers; etcd: linearizable get; Redis: GET", []string{etcd, redis}, false},
		{"cached", "read of a decided register that the client knows", nil, false},
	}
}

func operationNamed(name string) (operation, bool) {
	for _, op := range operations() {
		if op.Name == name {
			return op, true
		}
	}
	return operation{}, false
}

// has reports whether an engine has the operation.
func (o operation) has(engine string) bool {
	if engine == ashlar {
		return true
	}
	for _, p := range o.Peers {
		if p == engine {
			return true
		}
	}
	return false
}

// decided is how many registers or keys the reading operations read.
const decided = 1000

// fill makes the value that operation number seq of a client writes.
func fill(b []byte, client, seq int) []byte {
	binary.BigEndian.PutUint64(b, uint64(client))
	binary.BigEndian.PutUint64(b[8:], uint64(seq))
	for i := valueMin; i < len(b); i++ {
		b[i] = byte('a' + (client+seq+i)%26)
	}
	return b
}

// checkValue says what is wrong with a value.
func checkValue(b []byte, size, client, seq int) error {
	if string(b) != string(fill(make([]byte, size), client, seq)) {
		return fmt.Errorf("client %d, operation %d: found another value, of %d bytes", client, seq, len(b))
	}
	return nil
}
