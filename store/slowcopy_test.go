// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// stalling is a writer that stops at one of its writes until it is released.
type stalling struct {
	bytes.Buffer
	left         int
	at, goOnward chan bool
}

func (w *stalling) Write(b []byte) (int, error) {
	if w.left--; w.left == 0 {
		close(w.at)
		<-w.goOnward
	}
	return w.Buffer.Write(b)
}

// A copy to a writer that accepts nothing for a long time costs the store no memory,
// and no pages beyond those that it had; the finished copy is right.
func TestSlowCopy(t *testing.T) {
	puts := 80_000
	if testing.Short() {
		puts = 20_000
	}
	fill := func(db *store.DB, model map[string]string, n int) {
		for i := range n {
			k, v := fmt.Sprintf("key%06d", (i*7919)%20000), fmt.Sprintf("%d %0100d", i, i)
			must(t, db.Put([]byte(k), []byte(v)))
			if model != nil {
				model[k] = v
			}
		}
	}
	sizes := func(copying bool) (m store.Metrics, used int64) {
		db, model := open(t, sim.NewDisk(), tiny()), map[string]string{}
		fill(db, model, 8000)
		r := rand.New(rand.NewSource(1))
		for i := range 300 { // keys of large values that do not fit into one piece
			k := fmt.Sprintf("large%03d%s", i, strings.Repeat("k", 400))
			v := strings.Repeat(string(rune('a'+r.Intn(26))), 9000)
			must(t, db.Put([]byte(k), []byte(v)))
			model[k] = v
		}
		must(t, db.Compact(nil, nil))
		w := &stalling{left: 20, at: make(chan bool), goOnward: make(chan bool)}
		done := make(chan error, 1)
		if copying {
			go func() {
				_, err := db.Copy(t.Context(), w, nil)
				done <- err
			}()
			<-w.at
		}
		want := maps.Clone(model)
		fill(db, nil, puts)
		m = db.Metrics()
		if copying {
			close(w.goOnward)
			must(t, <-done)
			restored(t, want, w.Bytes())
			if report, err := db.Verify(t.Context()); err != nil || report.Err() != nil {
				t.Error(err, report.Err())
			}
		}
		must(t, db.Compact(nil, nil))
		must(t, db.Flush())
		end := db.Metrics()
		must(t, db.Close())
		return m, end.FileBytes - end.FreeBytes - end.RetiredBytes
	}
	alone, usedAlone := sizes(false)
	beside, used := sizes(true)
	t.Logf("alone: %d bytes of memory, %d of indexes, %d of the file; beside a copy: %d, %d, %d",
		alone.MemoryBytes, alone.IndexBytes, alone.FileBytes, beside.MemoryBytes, beside.IndexBytes, beside.FileBytes)
	if beside.IndexBytes > 2*alone.IndexBytes || beside.MemoryBytes > alone.MemoryLimit {
		t.Errorf("a copy that waits pins memory")
	}
	if beside.FileBytes > 2*alone.FileBytes+16<<20 {
		t.Errorf("a copy that waits keeps more pages than it has to write")
	}
	t.Logf("used in the end: %d bytes alone, %d", usedAlone, used)
	if used > usedAlone+usedAlone/32 {
		t.Errorf("%d bytes of the file are used when the copy has ended, %d without one", used, usedAlone)
	}
}

// Close does not wait for the writer of a copy. The copy ends with ErrClosed.
func TestCloseBesideASlowCopy(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	for i := range 3000 {
		must(t, db.Put(fmt.Appendf(nil, "key%06d", i), bytes.Repeat([]byte{'v'}, 200)))
	}
	w := &stalling{left: 5, at: make(chan bool), goOnward: make(chan bool)}
	done := make(chan error, 1)
	go func() {
		_, err := db.Copy(t.Context(), w, nil)
		done <- err
	}()
	<-w.at
	within(t, time.Minute, func() { must(t, db.Close()) })
	close(w.goOnward)
	if err := <-done; !errors.Is(err, store.ErrClosed) {
		t.Errorf("a copy of a store that was closed: %v, want ErrClosed", err)
	}
}
