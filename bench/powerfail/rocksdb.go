// SPDX-License-Identifier: Apache-2.0

//go:build rocksdb && cgo

package main

/*
#cgo LDFLAGS: -lrocksdb
#include <stdlib.h>
#include <rocksdb/c.h>
*/
import "C"

import (
	"errors"
	"unsafe"
)

// rocksdbEngine is RocksDB, an LSM tree in C++, through its C interface.
func rocksdbEngine() engine {
	return engine{
		Name: "rocksdb", Open: openRocksdb,
		Setup:   "memtables of 128 KiB, tables of 64 KiB; batches without sync, and with sync; everything else as it comes",
		Promise: "a batch written with sync is durable, and so is what was written before it; a batch is whole; at the open, what the log holds up to the first damage",
	}
}

type rocksdbStore struct {
	db   *C.rocksdb_t
	lazy *C.rocksdb_writeoptions_t
	sure *C.rocksdb_writeoptions_t
	read *C.rocksdb_readoptions_t
}

func openRocksdb(dir string) (store, error) {
	o := C.rocksdb_options_create()
	defer C.rocksdb_options_destroy(o)
	C.rocksdb_options_set_create_if_missing(o, 1)
	C.rocksdb_options_set_paranoid_checks(o, 1)
	C.rocksdb_options_set_write_buffer_size(o, memtableBytes)
	C.rocksdb_options_set_level0_file_num_compaction_trigger(o, 2)
	C.rocksdb_options_set_target_file_size_base(o, tableBytes)
	C.rocksdb_options_set_max_bytes_for_level_base(o, 4*tableBytes)
	C.rocksdb_options_set_compression(o, C.rocksdb_no_compression)
	C.rocksdb_options_set_keep_log_file_num(o, 1)
	name := C.CString(dir)
	defer C.free(unsafe.Pointer(name))
	var failed *C.char
	db := C.rocksdb_open(o, name, &failed)
	if err := rocksdbError(failed); err != nil {
		return nil, err
	}
	r := &rocksdbStore{db: db, lazy: C.rocksdb_writeoptions_create(), sure: C.rocksdb_writeoptions_create(), read: C.rocksdb_readoptions_create()}
	C.rocksdb_writeoptions_set_sync(r.sure, 1)
	C.rocksdb_readoptions_set_verify_checksums(r.read, 1)
	return r, nil
}

// rocksdbError takes over an error message.
func rocksdbError(text *C.char) error {
	if text == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(text))
	return errors.New(C.GoString(text))
}

func chars(b []byte) (*C.char, C.size_t) {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.size_t(len(b))
}

func (r *rocksdbStore) apply(changes []change, sync bool) error {
	b := C.rocksdb_writebatch_create()
	defer C.rocksdb_writebatch_destroy(b)
	for _, c := range changes {
		k, kn := chars(c.key)
		if c.value == nil {
			C.rocksdb_writebatch_delete(b, k, kn)
			continue
		}
		v, vn := chars(c.value)
		C.rocksdb_writebatch_put(b, k, kn, v, vn)
	}
	how := r.lazy
	if sync {
		how = r.sure
	}
	var failed *C.char
	C.rocksdb_write(r.db, how, b, &failed)
	return rocksdbError(failed)
}

func (r *rocksdbStore) get(key []byte) ([]byte, error) {
	k, kn := chars(key)
	var failed *C.char
	var n C.size_t
	v := C.rocksdb_get(r.db, r.read, k, kn, &n, &failed)
	if err := rocksdbError(failed); err != nil || v == nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(v))
	return append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(v)), int(n))...), nil
}

func (r *rocksdbStore) scan(visit func(key, value []byte)) error {
	it := C.rocksdb_create_iterator(r.db, r.read)
	defer C.rocksdb_iter_destroy(it)
	for C.rocksdb_iter_seek_to_first(it); C.rocksdb_iter_valid(it) != 0; C.rocksdb_iter_next(it) {
		var kn, vn C.size_t
		k := C.rocksdb_iter_key(it, &kn)
		v := C.rocksdb_iter_value(it, &vn)
		visit(unsafe.Slice((*byte)(unsafe.Pointer(k)), int(kn)), unsafe.Slice((*byte)(unsafe.Pointer(v)), int(vn)))
	}
	var failed *C.char
	C.rocksdb_iter_get_error(it, &failed)
	return rocksdbError(failed)
}

// verify has nothing to call in the C interface; reads verify checksums.
func (r *rocksdbStore) verify() error { return nil }

func (r *rocksdbStore) close() error {
	C.rocksdb_close(r.db)
	C.rocksdb_writeoptions_destroy(r.lazy)
	C.rocksdb_writeoptions_destroy(r.sure)
	C.rocksdb_readoptions_destroy(r.read)
	return nil
}
