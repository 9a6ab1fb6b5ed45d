// SPDX-License-Identifier: Apache-2.0

package space

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/worm/chain"
	"github.com/ashlar-dev/ashlar/internal/worm/fast"
	"github.com/ashlar-dev/ashlar/internal/worm/paxos"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// protocols are the clients of the register protocols.
func protocols() [3]wor.Client {
	return [...]wor.Client{wor.Paxos: paxos.Client{}, wor.Chain: chain.Client{}, wor.Fast: fast.Client{}}
}

// checkGenesis returns an error for an invalid Genesis.
func checkGenesis(g *wor.Genesis) error {
	if len(g.Partitions) == 0 {
		return fmt.Errorf("genesis has no partitions")
	}
	for i := range g.Partitions {
		c := &g.Partitions[i]
		if err := c.Check(); err != nil {
			return fmt.Errorf("genesis, partition %d: %w", i, err)
		}
		if c.Partition != wor.Partition(i) || c.Epoch != 0 {
			return fmt.Errorf("genesis, partition %d: is numbered %d and of epoch %d", i, c.Partition, c.Epoch)
		}
	}
	return nil
}
