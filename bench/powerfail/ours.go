// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/ashlar-dev/ashlar/env/osenv"
	ashlar "github.com/ashlar-dev/ashlar/store"
)

// oursEngines is the store of this repository, at its three levels.
func oursEngines() []engine {
	const promise = "what was synced is there; the state is that after some batch, a batch is whole"
	kind := func(name, setup string, d ashlar.Durability) engine {
		return engine{
			Name: name, Setup: setup, Promise: promise, Each: d == ashlar.EveryCommit,
			Open: func(dir string) (store, error) { return openOurs(dir, d) },
		}
	}
	return []engine{
		kind("ashlar", "SyncOnDemand: journal written on sync only; memtables of 128 KiB", ashlar.SyncOnDemand),
		kind("ashlar-eager", "ProcessCrash: journal written before it is asked for", ashlar.ProcessCrash),
		kind("ashlar-each", "EveryCommit: each batch is durable when it returns", ashlar.EveryCommit),
	}
}

type oursStore struct {
	db   *ashlar.DB
	disk *osenv.Disk
}

func openOurs(dir string, d ashlar.Durability) (store, error) {
	disk, err := osenv.OpenDisk(dir)
	if err != nil {
		return nil, err
	}
	world := osenv.New()
	world.Disk = disk
	db, err := ashlar.Open(world, ".", ashlar.Options{Memory: 64 << 20, Durability: d, Tuning: ashlar.Tuning{
		MemtableBytes: memtableBytes, LeafBytes: tableBytes, Fanout: 4, Runs: 3, BlobBytes: valueApart, CacheBytes: 1 << 20,
	}})
	if err != nil {
		return nil, errors.Join(err, disk.Close())
	}
	return &oursStore{db, disk}, nil
}

func (o *oursStore) apply(changes []change, sync bool) error {
	b := o.db.NewBatch()
	for _, c := range changes {
		if c.value == nil {
			b.Delete(c.key)
		} else {
			b.Put(c.key, c.value)
		}
	}
	if sync {
		return o.db.Commit(b, ashlar.Sync)
	}
	return o.db.Commit(b, ashlar.NoSync)
}

func (o *oursStore) get(key []byte) ([]byte, error) {
	v, err := o.db.Get(key, []byte{})
	if errors.Is(err, ashlar.ErrNotFound) {
		return nil, nil
	}
	return v, err
}

func (o *oursStore) scan(visit func(key, value []byte)) (err error) {
	it, err := o.db.Iter(nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		visit(it.Key(), it.Value())
	}
	return it.Err()
}

func (o *oursStore) verify() error {
	report, err := o.db.Verify(context.Background())
	return errors.Join(err, report.Err())
}

func (o *oursStore) close() error { return errors.Join(o.db.Close(), o.disk.Close()) }
