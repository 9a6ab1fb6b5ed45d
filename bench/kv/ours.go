// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env/osenv"
	ashlar "github.com/ashlar-dev/ashlar/store"
)

// ours is the store of this repository, with its journal written as the peers
// write their logs, and with the journal written on sync only.
func ours() []engine {
	return []engine{oursEngine("ashlar", ashlar.ProcessCrash), oursEngine("ashlar-lazy", ashlar.SyncOnDemand)}
}

func oursEngine(name string, durability ashlar.Durability) engine {
	return engine{
		Name: name, Ours: true, LogFree: durability == ashlar.SyncOnDemand,
		Setup: func(s settings) []string {
			lines := []string{
				fmt.Sprintf("Memory %s, which bounds all that it has: seven eighths of the limit, the rest is this program's", mib(s.all())),
				s.compression("by sample"),
				"direct I/O, so that it has no use for a page cache; everything else as it comes",
			}
			switch {
			case s.SyncEach:
				return append(lines, "each commit durable when it returns; those at the same time share a sync")
			case durability == ashlar.SyncOnDemand:
				return append(lines, "journal written on sync only: compare with peers without a log")
			}
			return append(lines, fmt.Sprintf("journal written in pieces of %g KiB, synced at the end of a phase", float64(ashlar.FrameBytes)/1024))
		},
		Open: func(dir string, s settings) (store, error) { return openOurs(dir, s, durability) },
	}
}

type oursStore struct {
	db   *ashlar.DB
	disk *osenv.Disk
}

func openOurs(dir string, s settings, durability ashlar.Durability) (store, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	if s.SyncEach {
		durability = ashlar.EveryCommit
	}
	o := ashlar.Options{Memory: s.all(), Durability: durability, Compression: ashlar.None, Merger: count{}}
	if s.Compress {
		o.Compression = ashlar.Auto
	}
	db, err := ashlar.Open(world, ".", o)
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	return &oursStore{db: db, disk: disk}, nil
}

func (o *oursStore) put(key, value []byte) error     { return o.db.Put(key, value) }
func (o *oursStore) merge(key, operand []byte) error { return o.db.Merge(key, operand) }
func (o *oursStore) sync() error                     { return o.db.Sync() }
func (o *oursStore) close() error                    { return errors.Join(o.db.Close(), o.disk.Close()) }

func (o *oursStore) get(key, dst []byte) ([]byte, error) {
	v, err := o.db.Get(key, dst[:0])
	if errors.Is(err, ashlar.ErrNotFound) {
		return dst[:0], errAbsent
	}
	return v, err
}

func (o *oursStore) scan(from []byte, _ int, visit func(key, value []byte) bool) (err error) {
	it, err := o.db.Iter(from, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok && visit(it.Key(), it.Value()); ok = it.Next() {
	}
	return it.Err()
}

// settle moves the memtables to the tree and waits for the work that follows.
func (o *oursStore) settle(stop func() bool) error {
	done := make(chan error, 1) // a result after stop is discarded
	go func() {
		err := o.db.Flush()
		if err == nil {
			err = o.db.Wait()
		}
		done <- err
	}()
	for !stop() {
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// count is the merge operator of applyOperand.
type count struct{}

func (count) Name() string { return "count" }

func (count) Combine(dst, _, older, newer []byte) []byte {
	n := len(dst)
	dst = append(dst, older...)
	applyOperand(dst[n:], newer)
	return dst
}

func (count) Apply(dst, _, value []byte, _ bool, operand []byte) []byte {
	n := len(dst)
	dst = append(dst, value...)
	applyOperand(dst[n:], operand)
	return dst
}
