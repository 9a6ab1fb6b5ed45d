// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/ashlar-dev/ashlar/internal/invariant"

// The order in which locks may be taken: one with a higher rank while one with
// a lower rank is held, and not the other way round. Builds with the tag
// "invariants" check it.
const (
	rankKeyspaces   invariant.Rank = iota + 1 // keyspaces.making: a keyspace is made or dropped
	rankIngest                                // Ingest.mu
	rankRoom                                  // room.mu: a call makes room on a full disk
	rankTight                                 // room.tight: a merge uses the reserve
	rankCheckpoints                           // checkpointer.mu
	rankJournal                               // journaler.mu
	rankIterator                              // Iterator.mu
	rankGrowing                               // space.growing: the file system is asked for room
	rankDB                                    // DB.mu
	rankViews                                 // views.mu
	rankLeaf                                  // durability.mu, space.mu, readers.mu, alarm.mu, notices.mu, rate.mu: one of them at a time
)
