// SPDX-License-Identifier: Apache-2.0

// Package drive is what each process of the Dedalus benchmark runs: an instance of
// a compiled program, or clients that ask for commands, each its next one when it
// has the answer to the one before.
//
// In: a compiled program, and a job as a line of JSON from the parent. Out: what
// the clients saw. Every command is counted when all that answers it has come, and
// a run in which one is not answered is an error.
package drive

import (
	"os"

	"github.com/ashlar-dev/ashlar/bench/process"
	"github.com/ashlar-dev/ashlar/dedalus/rt"
	"github.com/ashlar-dev/ashlar/internal/dedalus/loadgen"
)

// The roles, which are the first argument of a process.
const (
	RoleNode   = "-child-node"
	RoleClient = "-child-client"
)

// Main runs a process in the role that its argument says, and returns its exit
// code.
func Main(p *rt.Program) int {
	if len(os.Args) == 2 {
		switch os.Args[1] {
		case RoleNode:
			return process.Main(func(port *process.Port) error { return nodeMain(p, port) })
		case RoleClient:
			return process.Main(func(port *process.Port) error { return clientMain(p, port) })
		}
	}
	os.Stderr.WriteString("this is a process of bench/dedalus, which starts it\n")
	return 2
}

// NodeJob is the job of an instance.
type NodeJob struct {
	// Component is the component's place in the program.
	Component  int
	Node, Self string
	Listen     string
	// Peers are where all instances listen.
	Peers map[string]string
	// Pieces are the other pieces of the logical node; Incarnation is 0 where this
	// piece carries nothing.
	Pieces      []string
	Incarnation uint64
	// Dir is where it keeps what is durable.
	Dir string
	// Profile is where a CPU profile goes, "" for none.
	Profile string
}

// ClientJob is the job of clients.
type ClientJob struct {
	Name  string
	Nodes map[string]string
	// Sends and Waits are a command, as in a load.
	Sends []loadgen.Send
	Waits []loadgen.Wait
	// Clients is how many commands are under way at once.
	Clients int
	// Settle, Warm and Run are seconds: before the first command, of commands that are
	// not counted, and of those that are.
	Settle, Warm, Run float64
}
