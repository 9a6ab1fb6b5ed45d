// Package compiled lists example programs as Go, as 'ashlar dedalus compile' writes
// them: as they were written, and as their scripts of rewrites make them.
//
// In: nothing. Out: programs, for tests and benchmarks. What is in the packages below
// is generated; a test writes it again and compares:
//
//	go test ./examples/dedalus/compiled -run Generated -rewrite
package compiled

import (
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/comppaxos"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/multipaxos"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/multipaxosscaled"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/paxos"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/paxosscaled"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/voting"
	"github.com/ashlar-dev/ashlar/examples/dedalus/compiled/votingscaled"
)

// Entry is a compiled program.
type Entry struct {
	// Name is the package's; Source and Script are the files that it was made of, in
	// examples/dedalus; Script is empty where it was not rewritten.
	Name, Source, Script string
	Program              func() *rt.Program
}

// Programs are all of them.
func Programs() []Entry {
	return []Entry{
		{"voting", "voting.ded", "", voting.Program},
		{"votingscaled", "voting.ded", "voting.steps", votingscaled.Program},
		{"paxos", "paxos.ded", "", paxos.Program},
		{"paxosscaled", "paxos.ded", "paxos.steps", paxosscaled.Program},
		{"multipaxos", "multipaxos.ded", "", multipaxos.Program},
		{"multipaxosscaled", "multipaxos.ded", "multipaxos.steps", multipaxosscaled.Program},
		{"comppaxos", "comppaxos.ded", "", comppaxos.Program},
	}
}
