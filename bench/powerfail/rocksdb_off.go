// SPDX-License-Identifier: Apache-2.0

//go:build !rocksdb || !cgo

package main

import "errors"

// rocksdbEngine names what -tags rocksdb would bring.
func rocksdbEngine() engine {
	const why = "it needs cgo, RocksDB's headers and library (Debian: librocksdb-dev) and -tags rocksdb"
	return engine{Name: "rocksdb", Absent: why, Open: func(string) (store, error) { return nil, errors.New(why) }}
}
