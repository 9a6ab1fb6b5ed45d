// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// leap is a clock that leaps to the end of each wait.
type leap struct {
	mu   sync.Mutex
	now  env.Instant
	wait time.Duration // the longest single one
	// asked is called at each wait.
	asked func()
}

func (c *leap) Now() env.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *leap) Wall() time.Time { return time.Unix(0, 0) }

func (c *leap) After(d time.Duration, w env.Waker) env.Timer {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.wait = max(c.wait, d)
	asked := c.asked
	c.mu.Unlock()
	if asked != nil {
		asked()
	}
	w.Wake()
	return noTimer{}
}

type noTimer struct{}

func (noTimer) Stop() bool { return false }

func filled(t *testing.T, clock env.Clock, o store.Options) (*sim.Disk, *store.DB) {
	t.Helper()
	disk := sim.NewDisk()
	w := world(disk, 7)
	w.Clock = clock
	db, err := store.Open(w, "db", o)
	must(t, err)
	for i := range 3000 {
		value := fmt.Appendf(nil, "value %d of a key that is written now and then", i)
		if i%200 == 0 {
			value = make([]byte, 5000)
		}
		must(t, db.Put(fmt.Appendf(nil, "key%04d", i*7%1500), value))
	}
	must(t, db.Flush())
	must(t, db.Wait())
	return disk, db
}

func TestScrubKeepsToItsRate(t *testing.T) {
	clock := &leap{}
	_, db := filled(t, clock, tiny())
	want, err := db.Verify(t.Context())
	must(t, err)
	before := clock.Now()
	const rate = 100_000
	report, err := db.Scrub(t.Context(), rate)
	must(t, err)
	must(t, report.Err())
	if fmt.Sprint(report) != fmt.Sprint(want) || report.Bytes == 0 || report.Blobs == 0 {
		t.Errorf("scrub found %+v, verify %+v", report, want)
	}
	took := clock.Now().Sub(before)
	least := time.Duration(float64(report.Bytes) / rate * float64(time.Second))
	if took < least || took > 3*least {
		t.Errorf("%d bytes at %d a second took %v, want %v to %v", report.Bytes, rate, took, least, 3*least)
	}
	if clock.wait > 50*time.Millisecond {
		t.Errorf("one wait of %v", clock.wait)
	}
	if _, err := db.Scrub(t.Context(), 0); err == nil {
		t.Error("a rate of nothing")
	}
	must(t, db.Close())
}

func TestScrubEnds(t *testing.T) {
	clock := &leap{}
	_, db := filled(t, clock, tiny())
	ctx, cancel := context.WithCancel(t.Context())
	waits := 0
	clock.asked = func() {
		if waits++; waits == 3 {
			cancel()
		}
	}
	report, err := db.Scrub(ctx, 1000)
	if !errors.Is(err, context.Canceled) || waits != 3 {
		t.Errorf("cancelled: %v after %d waits, %+v", err, waits, report)
	}
	// A close ends it as well, and waits for it.
	closed := make(chan error, 1)
	waits = 0
	clock.asked = func() {
		if waits++; waits == 2 {
			go func() { closed <- db.Close() }()
		}
		if waits >= 2 {
			time.Sleep(time.Millisecond)
		}
	}
	if _, err := db.Scrub(t.Context(), 1000); !errors.Is(err, store.ErrClosed) {
		t.Errorf("scrub of a store that was closed meanwhile: %v", err)
	}
	must(t, <-closed)
	clock.asked = nil
	if _, err := db.Scrub(t.Context(), 1000); !errors.Is(err, store.ErrClosed) {
		t.Errorf("scrub of a closed store: %v", err)
	}
}

// TestScrubBesideChanges scrubs while branches are made and dropped.
func TestScrubBesideChanges(t *testing.T) {
	clock := &leap{}
	_, db := filled(t, clock, tiny())
	i := 0
	clock.asked = func() {
		for range 20 {
			i++
			must(t, db.Put(fmt.Appendf(nil, "key%04d", i*13%1500), make([]byte, 200)))
		}
	}
	report, err := db.Scrub(t.Context(), 200_000)
	must(t, err)
	must(t, report.Err())
	if m := db.Metrics(); m.Compactions == 0 || i < 100 {
		t.Fatalf("%d changes and %d compactions beside the scrub", i, m.Compactions)
	}
	clock.asked = nil
	must(t, db.Close())
}
