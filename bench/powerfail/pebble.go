// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// pebbleEngine is Pebble, an LSM tree in Go.
func pebbleEngine() engine {
	return engine{
		Name: "pebble", Module: "github.com/cockroachdb/pebble/v2", Open: openPebble,
		Setup:   "memtables of 128 KiB, tables of 64 KiB, newest format; batches without sync, and with sync",
		Promise: "a batch committed with Sync is durable, and so is what was committed before it; a batch is whole",
	}
}

type pebbleStore struct{ db *pebble.DB }

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

func openPebble(dir string) (store, error) {
	o := &pebble.Options{
		MemTableSize: memtableBytes, L0CompactionThreshold: 2, LBaseMaxBytes: 4 * tableBytes,
		FormatMajorVersion: pebble.FormatNewest, Logger: quiet{},
	}
	for i := range o.TargetFileSizes {
		o.TargetFileSizes[i] = tableBytes
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &pebbleStore{db}, nil
}

func (p *pebbleStore) apply(changes []change, sync bool) error {
	b := p.db.NewBatch()
	for _, c := range changes {
		var err error
		if c.value == nil {
			err = b.Delete(c.key, nil)
		} else {
			err = b.Set(c.key, c.value, nil)
		}
		if err != nil {
			return errors.Join(err, b.Close())
		}
	}
	if sync {
		return p.db.Apply(b, pebble.Sync)
	}
	return p.db.Apply(b, pebble.NoSync)
}

func (p *pebbleStore) get(key []byte) ([]byte, error) {
	v, closer, err := p.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, v...), closer.Close()
}

func (p *pebbleStore) scan(visit func(key, value []byte)) (err error) {
	it, err := p.db.NewIter(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		visit(it.Key(), v)
	}
	return it.Error()
}

func (p *pebbleStore) verify() error { return p.db.CheckLevels(nil) }

func (p *pebbleStore) close() error { return p.db.Close() }
