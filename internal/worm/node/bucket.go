// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// bucket admits burst events at once, and one in every interval on average. The
// zero bucket is full.
type bucket struct{ next env.Instant }

// take reports whether an event is admitted now.
func (b *bucket) take(now env.Instant, every time.Duration, burst int) bool {
	at := max(b.next, now)
	if at.Sub(now) > every*time.Duration(burst-1) {
		return false
	}
	b.next = at.Add(every)
	return true
}
