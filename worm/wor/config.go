package wor

// Member is one server of a configuration.
type Member struct {
	ID ServerID
	// Name is for people.
	Name string
	// Addr is where the server listens, in the network's notation.
	Addr string
}

// Config says who keeps a partition in an epoch. It is the value of a register:
// Addr{ConfigSegment(Partition), Epoch}, kept by partition 0; the one of
// partition 0 for epoch e+1 is kept by its own members of epoch e, who answer for
// that one register also after they are sealed.
type Config struct {
	Partition Partition
	Epoch     Epoch
	// Members are in the order of the chain, where a segment is one.
	Members []Member
	// Tag names the reconfiguration that made it, Digest the state that it
	// staged; both 0 in epoch 0.
	Tag    uint64
	Digest uint64
	// Tainted says that what an epoch before had decided may be missing: it was
	// recovered without a majority, because somebody asked for that.
	Tainted bool
}

// Majority is how many of n servers any two sets of which have one in common.
func Majority(n int) int { return n/2 + 1 }

// FastQuorum is how many of n servers must take a value without a capture for it
// to be decided: any two such sets and any majority have one in common.
func FastQuorum(n int) int { return (3*n + 3) / 4 }

// Index is the place of a server among the members, or -1.
func (c *Config) Index(id ServerID) int {
	for i := range c.Members {
		if c.Members[i].ID == id {
			return i
		}
	}
	return -1
}

// Genesis is what a cluster is made with, and what every server and client of it
// is given: the first configuration of each partition. It never changes.
type Genesis struct {
	// Cluster is the cluster's identity; messages of another one are refused.
	Cluster uint64
	// Partitions has the configuration of epoch 0 for partition i at i. Their
	// number is part of the map from segments to homes and never changes.
	Partitions []Config
	// Restored are the numbers that the cluster had before it was restored from
	// backups, each of which gave it another one: of what was done since those
	// backups nothing is there any more, so that whoever knows the old number must
	// begin anew.
	Restored []uint64
	// Known are configurations that were decided later, for those who begin now:
	// where to find the cluster when nobody of its beginning is left.
	Known []Config
}

// Home is the partition that keeps a segment's metadata and trim registers, and
// of a ConfigSegment everything. It is a fixed map: it must never depend on
// anything that may change (rule m).
func (g *Genesis) Home(s Segment) Partition {
	if s&ReservedSegment != 0 {
		return 0
	}
	return Partition(uint64(s) % uint64(len(g.Partitions)))
}

// Meta is what is decided when a segment is allocated: the value of its metadata
// register.
type Meta struct {
	// Owner is who allocated it: a nonce of its own choice, so that it can tell
	// its own allocation from another's.
	Owner uint64
	// Partition and Protocol say who keeps the data registers, and how.
	Partition Partition
	Protocol  Protocol
	// Size is how many data registers there are: offsets 0 to Size-1.
	Size uint32
	// Payload is the application's, of at most PayloadMax bytes.
	Payload []byte
}

// PayloadMax is the longest Meta.Payload, in bytes.
const PayloadMax = 64 << 10
