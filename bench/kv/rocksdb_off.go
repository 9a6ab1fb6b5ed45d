// SPDX-License-Identifier: Apache-2.0

//go:build !rocksdb || !cgo

package main

import "errors"

// rocksdbEngines names what -tags rocksdb would bring.
func rocksdbEngines() []engine {
	const why = "it needs cgo, RocksDB's headers and library (Debian: librocksdb-dev) and -tags rocksdb"
	var list []engine
	for _, name := range []string{"rocksdb", "rocksdb-direct", "rocksdb-nolog"} {
		list = append(list, engine{
			Name: name, Peer: true, LogFree: name == "rocksdb-nolog", Absent: why,
			Setup: func(settings) []string { return nil },
			Open:  func(string, settings) (store, error) { return nil, errors.New(why) },
		})
	}
	return list
}
