// SPDX-License-Identifier: Apache-2.0

package wor

// Member is one server of a configuration.
type Member struct {
	ID ServerID
	// Name is for people.
	Name string
	// Addr is where the server listens, in the network's notation.
	Addr string
}

// Config states which servers store a partition in an epoch. It is the value of
// the register Addr{ConfigSegment(Partition), Epoch}, which partition 0 stores.
// The configuration of partition 0 for epoch e+1 is stored by its own members
// of epoch e, which serve that one register even after they are sealed.
type Config struct {
	Partition Partition
	Epoch     Epoch
	// Members are in the order of the chain, for segments of protocol Chain.
	Members []Member
	// Tag identifies the reconfiguration that made the configuration, Digest
	// the state that it staged; both are 0 in epoch 0.
	Tag    uint64
	Digest uint64
	// Tainted reports that decisions of an earlier epoch may be missing: the
	// partition was recovered without a majority, on an operator's request.
	Tainted bool
}

// Majority is the number of servers, of n, such that any two sets of that many
// intersect.
func Majority(n int) int { return n/2 + 1 }

// FastQuorum is the number of servers, of n, that must accept a value without a
// capture to decide it: any two such sets and any majority have a server in
// common.
func FastQuorum(n int) int { return (3*n + 3) / 4 }

// Index is the position of a server among the members, or -1.
func (c *Config) Index(id ServerID) int {
	for i := range c.Members {
		if c.Members[i].ID == id {
			return i
		}
	}
	return -1
}

// Genesis is the initial description of a cluster, given to each of its servers
// and clients: the first configuration of each partition. It never changes.
type Genesis struct {
	// Cluster identifies the cluster; its servers and clients refuse messages
	// of another cluster.
	Cluster uint64
	// Partitions has the configuration of epoch 0 for partition i at i. Their
	// number is part of the map from segments to homes and must never change.
	Partitions []Config
	// Restored are the cluster's earlier identities: each restore from backups
	// gave it a new one. Operations after those backups are lost, so a client
	// that knows an old identity must start anew.
	Restored []uint64
	// Known are later configurations, for servers and clients that start after
	// all original members are gone: they say where the cluster is now.
	Known []Config
}

// Home is the partition that stores a segment's metadata and trim registers,
// and all registers of a ConfigSegment. It is a fixed map: it must not depend
// on anything that may change (rule m).
func (g *Genesis) Home(s Segment) Partition {
	if s&ReservedSegment != 0 {
		return 0
	}
	return Partition(uint64(s) % uint64(len(g.Partitions)))
}

// Meta is decided when a segment is allocated: the value of its metadata
// register.
type Meta struct {
	// Owner identifies the client that allocated the segment: a nonce of its
	// own choice, by which it recognizes its own allocation.
	Owner uint64
	// Partition and Protocol state which servers store the data registers, and
	// how.
	Partition Partition
	Protocol  Protocol
	// Size is the number of data registers: offsets 0 to Size-1.
	Size uint32
	// Payload is the application's, at most PayloadMax bytes.
	Payload []byte
}

// PayloadMax is the longest Meta.Payload, in bytes.
const PayloadMax = 64 << 10
