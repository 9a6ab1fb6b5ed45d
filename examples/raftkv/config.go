// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// The times of a cluster. A follower that hears nothing for silence, and up to
// twice as long, stands for election.
const (
	silence = 300 * time.Millisecond
	pulse   = 60 * time.Millisecond
)

// unbounded is where the specification bounds a model, and the service is not
// bounded: numbers of terms, of entries and of rounds.
const unbounded = 2_000_000_000

// batch is how many entries one message has at most. With values of valueMax bytes
// it is still a frame.
const batch = 64

// frontOf is Front of the specification.
func frontOf(server int) value.Value { return value.Int(int32(100 + server)) }

// nodeOf is the name of a server's node.
func nodeOf(server int) string { return fmt.Sprintf("server%d", server) }

func text(i int) distsys.Text { return distsys.TextOf(value.Int(int32(i))) }

// constants are those of a cluster of so many servers.
func constants(servers int) map[string]distsys.Text {
	none := distsys.TextOf(value.Set())
	return map[string]distsys.Text{
		"NumServers": text(servers), "MaxTerm": text(unbounded), "MaxLog": text(unbounded), "MaxRound": text(unbounded),
		"Beats": distsys.TextOf(value.Bool(true)), "Batch": text(batch),
		"Values": distsys.TextOf(value.Tuple(value.String("a"))), "Writers": none, "Readers": none,
	}
}

// configuration is a cluster whose servers listen to each other at these addresses.
func configuration(peers []string) *distsys.Config {
	net := distsys.Supply{Kind: distsys.KindMailboxes, Mode: distsys.ModeLossy, Capacity: 4096}
	c := &distsys.Config{System: "raftkv", Constants: constants(len(peers)), Nodes: map[string][]distsys.Member{}}
	for i, peer := range peers {
		s := i + 1
		net.At = append(net.At, distsys.Site{Node: nodeOf(s), Address: peer, Indices: []distsys.Text{text(s), distsys.TextOf(frontOf(s))}})
		c.Nodes[nodeOf(s)] = []distsys.Member{{Archetype: "AServer", Self: text(s),
			Refs: map[string]string{"net": "net", "quiet": "silence", "beat": "pulse"}}}
	}
	c.Resources = map[string]distsys.Supply{
		"net":     net,
		"silence": {Kind: distsys.KindTimer, After: distsys.Duration(silence), Spread: distsys.Duration(silence)},
		"pulse":   {Kind: distsys.KindTimer, After: distsys.Duration(pulse)},
	}
	return c
}
