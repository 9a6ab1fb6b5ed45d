// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/ashlar-dev/ashlar/env"
)

// bucket admits burst events at once, and one in every interval on average. The
// zero bucket is full.
type bucket struct{ next env.Instant }

// has reports whether an event would be admitted now.
func (b *bucket) has(now env.Instant, every time.Duration, burst int) bool {
	return max(b.next, now).Sub(now) <= every*time.Duration(burst-1)
}

// take reports whether an event is admitted now.
func (b *bucket) take(now env.Instant, every time.Duration, burst int) bool {
	if !b.has(now, every, burst) {
		return false
	}
	b.next = max(b.next, now).Add(every)
	return true
}
