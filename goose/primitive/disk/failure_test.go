// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
)

// faulty is a file of zeros that takes writes and does not make them durable.
type faulty struct {
	env.File
	onRead func()
}

func (f faulty) ReadAt(b []byte, off int64) (int, error) {
	f.onRead()
	return len(b), nil
}

func (f faulty) WriteAt(b []byte, off int64) (int, error) { return len(b), nil }

func (f faulty) Sync() error { return errors.New("no") }

// TestFailedWriteIsNotRead: no read sees the bytes of a failed write before the
// failure is visible.
func TestFailedWriteIsNotRead(t *testing.T) {
	d := &file{name: "d", f: faulty{}, size: 5}
	failures := 0
	d.write(3, make([]byte, BlockSize), true, func(err error) {
		failures++
		if d.locks[3].TryRLock() {
			t.Error("the block could be read")
		}
	})
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
	if !d.locks[3].TryLock() {
		t.Error("the block stays locked")
	}
}

// TestReadDuringFailure: a read that ends after its disk has failed reports the
// failure.
func TestReadDuringFailure(t *testing.T) {
	p := &pair{size: 5}
	p.failed.Store(none)
	p.disks[0] = &file{name: "d", size: 5, f: faulty{onRead: func() { p.failed.Store(0) }}}
	if b, ok := p.Read(0, 3); ok || len(b) != BlockSize {
		t.Errorf("%d bytes, %t", len(b), ok)
	}
}
