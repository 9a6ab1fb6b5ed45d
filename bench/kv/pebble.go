// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// pebbleEngine is Pebble, an LSM tree in Go.
func pebbleEngine(name string, noLog bool) engine {
	return engine{
		Name: name, Peer: true, LogFree: noLog,
		Setup: func(s settings) []string {
			lines := []string{
				fmt.Sprintf("block cache %s, %d memtables of %s: as RocksDB", mib(s.cache()), memtables, mib(s.memtable())),
				fmt.Sprintf("bloom filters of %d bits on every level (a Get does not ask the last one's: its default)", bloomBits),
				s.compression("Snappy"),
				fmt.Sprintf("1 to %d compactions at a time; everything else as it comes", max(1, s.CPUs)),
			}
			if noLog {
				return append(lines, "no log; sync is Flush")
			}
			return append(lines, "log on, written in blocks of 32 KiB; sync at the end of a phase or, with -sync each, of each commit")
		},
		Open: func(dir string, s settings) (store, error) { return openPebble(dir, s, noLog) },
	}
}

type pebbleStore struct {
	db    *pebble.DB
	write *pebble.WriteOptions
	noLog bool
}

// quiet takes the place of the engines' loggers: what they have to tell comes
// as errors.
type quiet struct{}

func (quiet) Infof(string, ...any)    {}
func (quiet) Errorf(string, ...any)   {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Debugf(string, ...any)   {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

func openPebble(dir string, s settings, noLog bool) (store, error) {
	cache := pebble.NewCache(s.cache())
	defer cache.Unref()
	o := &pebble.Options{
		Cache:                       cache,
		MemTableSize:                uint64(s.memtable()),
		MemTableStopWritesThreshold: memtables,
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, s.CPUs) },
		DisableWAL:                  noLog,
		FormatMajorVersion:          pebble.FormatNewest,
		Logger:                      quiet{},
		Merger:                      &pebble.Merger{Name: "count", Merge: newPebbleCount},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBits)
		if !s.Compress {
			o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		}
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	p := &pebbleStore{db: db, write: pebble.NoSync, noLog: noLog}
	if s.SyncEach && !noLog {
		p.write = pebble.Sync
	}
	return p, nil
}

func (p *pebbleStore) put(key, value []byte) error     { return p.db.Set(key, value, p.write) }
func (p *pebbleStore) merge(key, operand []byte) error { return p.db.Merge(key, operand, p.write) }

func (p *pebbleStore) get(key, dst []byte) ([]byte, error) {
	v, closer, err := p.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return dst[:0], errAbsent
	}
	if err != nil {
		return dst[:0], err
	}
	dst = append(dst[:0], v...)
	return dst, closer.Close()
}

func (p *pebbleStore) scan(from []byte, _ int, visit func(key, value []byte) bool) (err error) {
	it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if !visit(it.Key(), v) {
			break
		}
	}
	return it.Error()
}

func (p *pebbleStore) sync() error {
	if p.noLog {
		return p.db.Flush()
	}
	return p.db.LogData(nil, pebble.Sync)
}

func (p *pebbleStore) settle(stop func() bool) error {
	if err := p.db.Flush(); err != nil {
		return err
	}
	return untilQuiet(stop, func() bool {
		m := p.db.Metrics()
		return m.Compact.NumInProgress == 0 && m.Flush.NumInProgress == 0
	})
}

func (p *pebbleStore) close() error { return p.db.Close() }

// untilQuiet polls until idle said so five times in a row, or until stop.
func untilQuiet(stop, idle func() bool) error {
	for calm := 0; calm < 5 && !stop(); time.Sleep(20 * time.Millisecond) {
		if idle() {
			calm++
		} else {
			calm = 0
		}
	}
	return nil
}

// pebbleCount folds operands into a value, or into one operand.
type pebbleCount struct{ folded []byte }

func newPebbleCount(_, value []byte) (pebble.ValueMerger, error) {
	return &pebbleCount{folded: slices.Clone(value)}, nil
}

func (c *pebbleCount) MergeNewer(value []byte) error {
	applyOperand(c.folded, value)
	return nil
}

func (c *pebbleCount) MergeOlder(value []byte) error {
	newer := c.folded
	c.folded = append([]byte(nil), value...)
	applyOperand(c.folded, newer)
	return nil
}

func (c *pebbleCount) Finish(bool) ([]byte, io.Closer, error) { return c.folded, nil, nil }
