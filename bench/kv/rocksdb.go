// SPDX-License-Identifier: Apache-2.0

//go:build rocksdb && cgo

package main

/*
#cgo LDFLAGS: -lrocksdb
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <rocksdb/c.h>

// One call from Go costs about 0.1 us, so that each operation is one call.

static char *kv_put(rocksdb_t *db, rocksdb_writeoptions_t *o, const char *k, size_t kn, const char *v, size_t vn) {
	char *err = NULL;
	rocksdb_put(db, o, k, kn, v, vn, &err);
	return err;
}

static char *kv_merge(rocksdb_t *db, rocksdb_writeoptions_t *o, const char *k, size_t kn, const char *v, size_t vn) {
	char *err = NULL;
	rocksdb_merge(db, o, k, kn, v, vn, &err);
	return err;
}

// kv_get copies at most room bytes of the value; *n is its length, -1: absent.
static char *kv_get(rocksdb_t *db, rocksdb_readoptions_t *o, const char *k, size_t kn, char *out, size_t room, int64_t *n) {
	char *err = NULL;
	rocksdb_pinnableslice_t *p = rocksdb_get_pinned(db, o, k, kn, &err);
	*n = -1;
	if (err != NULL || p == NULL) {
		if (p != NULL) rocksdb_pinnableslice_destroy(p);
		return err;
	}
	size_t vn;
	const char *v = rocksdb_pinnableslice_value(p, &vn);
	*n = (int64_t)vn;
	memcpy(out, v, vn < room ? vn : room);
	rocksdb_pinnableslice_destroy(p);
	return NULL;
}

// kv_next copies records from where the iterator is, each as two lengths
// of 4 bytes, key and value, until want are there or the next does not fit.
// *used is how many bytes they take, *need what the next one would have needed
// when not even one fitted.
static int kv_next(rocksdb_iterator_t *it, char *out, size_t room, int want, size_t *used, size_t *need) {
	int n = 0;
	*used = 0;
	*need = 0;
	while (n < want && rocksdb_iter_valid(it)) {
		size_t kn, vn;
		const char *k = rocksdb_iter_key(it, &kn), *v = rocksdb_iter_value(it, &vn);
		if (8 + kn + vn > room - *used) {
			if (n == 0) *need = 8 + kn + vn;
			break;
		}
		uint32_t lens[2] = {(uint32_t)kn, (uint32_t)vn};
		memcpy(out + *used, lens, 8);
		memcpy(out + *used + 8, k, kn);
		memcpy(out + *used + 8 + kn, v, vn);
		*used += 8 + kn + vn;
		n++;
		rocksdb_iter_next(it);
	}
	return n;
}

static uint32_t kv_load32(const char *p) {
	const unsigned char *u = (const unsigned char *)p;
	return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static void kv_store32(char *p, uint32_t n) {
	for (int i = 0; i < 4; i++) p[i] = (char)(n >> (8 * i));
}

// kv_sum adds operands of 4 bytes; 0: one of them is none.
static int kv_sum(const char *const *list, const size_t *lens, int n, uint32_t *sum) {
	*sum = 0;
	for (int i = 0; i < n; i++) {
		if (lens[i] != 4) return 0;
		*sum += kv_load32(list[i]);
	}
	return 1;
}

static char *kv_full_merge(void *state, const char *key, size_t kn, const char *old, size_t on,
		const char *const *list, const size_t *lens, int n, unsigned char *ok, size_t *rn) {
	uint32_t sum;
	(void)state; (void)key; (void)kn;
	*ok = old != NULL && on > 16 && kv_sum(list, lens, n, &sum);
	*rn = 0;
	if (!*ok) return NULL;
	char *r = malloc(on);
	memcpy(r, old, on);
	kv_store32(r + 12, kv_load32(r + 12) + sum);
	*rn = on;
	return r;
}

static char *kv_partial_merge(void *state, const char *key, size_t kn,
		const char *const *list, const size_t *lens, int n, unsigned char *ok, size_t *rn) {
	uint32_t sum;
	(void)state; (void)key; (void)kn;
	*ok = kv_sum(list, lens, n, &sum);
	*rn = 0;
	if (!*ok) return NULL;
	char *r = malloc(4);
	kv_store32(r, sum);
	*rn = 4;
	return r;
}

static void kv_delete_value(void *state, const char *v, size_t n) { (void)state; (void)n; free((void *)v); }
static const char *kv_name(void *state) { (void)state; return "count"; }
static void kv_destroy(void *state) { (void)state; }

static rocksdb_mergeoperator_t *kv_mergeoperator(void) {
	return rocksdb_mergeoperator_create(NULL, kv_destroy, kv_full_merge, kv_partial_merge, kv_delete_value, kv_name);
}

// kv_busy is whether the database has work in the background; -1: it does not
// say.
static int kv_busy(rocksdb_t *db) {
	const char *names[] = {"rocksdb.num-running-compactions", "rocksdb.compaction-pending",
		"rocksdb.num-running-flushes", "rocksdb.mem-table-flush-pending"};
	for (int i = 0; i < 4; i++) {
		uint64_t n;
		if (rocksdb_property_int(db, names[i], &n) != 0) return -1;
		if (n > 0) return 1;
	}
	return 0;
}
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// rocksdbKind is a variant of RocksDB.
type rocksdbKind struct {
	name   string
	direct bool // direct I/O for reads, flushes and compactions
	noLog  bool
}

// rocksdbEngines is RocksDB, an LSM tree in C++, through its C interface.
func rocksdbEngines() []engine {
	var list []engine
	for _, k := range []rocksdbKind{{name: "rocksdb"}, {name: "rocksdb-direct", direct: true}, {name: "rocksdb-nolog", noLog: true}} {
		list = append(list, engine{
			Name: k.name, Peer: true, LogFree: k.noLog,
			Setup: k.setup,
			Open:  k.open,
		})
	}
	return list
}

func (k rocksdbKind) setup(s settings) []string {
	lines := []string{
		fmt.Sprintf("block cache %s, %d memtables of %s", mib(s.cache()), memtables, mib(s.memtable())),
		fmt.Sprintf("bloom filters of %d bits, whole keys, on every level", bloomBits),
		s.compression("Snappy"),
		fmt.Sprintf("%d jobs in the background: a flush beside compactions; level sizes set by the data, as its tuning guide says; everything else as it comes", max(2, s.CPUs)),
		fmt.Sprintf("files of %s, first level %s: as large as the memtables that fill it", mib(s.memtable()), mib(4*s.memtable())),
	}
	if k.direct {
		lines = append(lines, "direct I/O for reads, flushes and compactions")
	}
	if k.noLog {
		return append(lines, "no log; sync is a flush")
	}
	return append(lines, "log on; sync at the end of a phase or, with -sync each, of each write")
}

type rocksdbStore struct {
	db    *C.rocksdb_t
	write *C.rocksdb_writeoptions_t
	read  *C.rocksdb_readoptions_t
	scans *C.rocksdb_readoptions_t
	noLog bool
}

func truth(b bool) C.uchar {
	if b {
		return 1
	}
	return 0
}

func (k rocksdbKind) open(dir string, s settings) (store, error) {
	o := C.rocksdb_options_create()
	defer C.rocksdb_options_destroy(o)
	table := C.rocksdb_block_based_options_create()
	defer C.rocksdb_block_based_options_destroy(table)
	cache := C.rocksdb_cache_create_lru(C.size_t(s.cache()))
	defer C.rocksdb_cache_destroy(cache)
	C.rocksdb_block_based_options_set_block_cache(table, cache)
	C.rocksdb_block_based_options_set_filter_policy(table, C.rocksdb_filterpolicy_create_bloom(bloomBits))
	C.rocksdb_options_set_block_based_table_factory(o, table)
	C.rocksdb_options_set_create_if_missing(o, 1)
	C.rocksdb_options_set_write_buffer_size(o, C.size_t(s.memtable()))
	C.rocksdb_options_set_max_write_buffer_number(o, memtables)
	if s.Compress {
		C.rocksdb_options_set_compression(o, C.rocksdb_snappy_compression)
	} else {
		C.rocksdb_options_set_compression(o, C.rocksdb_no_compression)
	}
	C.rocksdb_options_set_max_background_jobs(o, C.int(max(2, s.CPUs)))
	C.rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1)
	C.rocksdb_options_set_target_file_size_base(o, C.uint64_t(s.memtable()))
	C.rocksdb_options_set_max_bytes_for_level_base(o, C.uint64_t(4*s.memtable()))
	C.rocksdb_options_set_merge_operator(o, C.kv_mergeoperator())
	C.rocksdb_options_set_keep_log_file_num(o, 1)
	C.rocksdb_options_set_use_direct_reads(o, truth(k.direct))
	C.rocksdb_options_set_use_direct_io_for_flush_and_compaction(o, truth(k.direct))
	name := C.CString(dir)
	defer C.free(unsafe.Pointer(name))
	var failed *C.char
	db := C.rocksdb_open(o, name, &failed)
	if err := rocksdbError(failed); err != nil {
		return nil, err
	}
	r := &rocksdbStore{db: db, noLog: k.noLog, write: C.rocksdb_writeoptions_create(),
		read: C.rocksdb_readoptions_create(), scans: C.rocksdb_readoptions_create()}
	C.rocksdb_writeoptions_set_sync(r.write, truth(s.SyncEach && !k.noLog))
	C.rocksdb_writeoptions_disable_WAL(r.write, C.int(truth(k.noLog)))
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

func (r *rocksdbStore) put(key, value []byte) error {
	k, kn := chars(key)
	v, vn := chars(value)
	return rocksdbError(C.kv_put(r.db, r.write, k, kn, v, vn))
}

func (r *rocksdbStore) merge(key, operand []byte) error {
	k, kn := chars(key)
	v, vn := chars(operand)
	return rocksdbError(C.kv_merge(r.db, r.write, k, kn, v, vn))
}

func (r *rocksdbStore) get(key, dst []byte) ([]byte, error) {
	k, kn := chars(key)
	for {
		dst = dst[:cap(dst)]
		out, room := chars(dst)
		var n C.int64_t
		if err := rocksdbError(C.kv_get(r.db, r.read, k, kn, out, room, &n)); err != nil {
			return dst[:0], err
		}
		switch {
		case n < 0:
			return dst[:0], errAbsent
		case int(n) <= len(dst):
			return dst[:n], nil
		}
		dst = make([]byte, n) // the first value of this length: once more
	}
}

// scanChunk is how many bytes of records cross from C at a time, at least.
const scanChunk = 64 << 10

func (r *rocksdbStore) scan(from []byte, want int, visit func(key, value []byte) bool) error {
	it := C.rocksdb_create_iterator(r.db, r.scans)
	defer C.rocksdb_iter_destroy(it)
	if from == nil {
		C.rocksdb_iter_seek_to_first(it)
	} else {
		k, kn := chars(from)
		C.rocksdb_iter_seek(it, k, kn)
	}
	if want == 0 {
		want = 1 << 30
	}
	buf := make([]byte, scanChunk)
	for {
		var used, need C.size_t
		out, room := chars(buf)
		n := int(C.kv_next(it, out, room, C.int(want), &used, &need))
		if n == 0 && need > 0 {
			buf = make([]byte, need)
			continue
		}
		if n == 0 {
			var failed *C.char
			C.rocksdb_iter_get_error(it, &failed)
			return rocksdbError(failed)
		}
		for b := buf[:used]; len(b) > 0; {
			kn, vn := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
			key, value := b[8:8+kn], b[8+kn:8+kn+vn]
			b = b[8+kn+vn:]
			if !visit(key, value) {
				return nil
			}
		}
		if want -= n; want == 0 {
			return nil
		}
	}
}

func (r *rocksdbStore) flush() error {
	o := C.rocksdb_flushoptions_create()
	defer C.rocksdb_flushoptions_destroy(o)
	C.rocksdb_flushoptions_set_wait(o, 1)
	var failed *C.char
	C.rocksdb_flush(r.db, o, &failed)
	return rocksdbError(failed)
}

func (r *rocksdbStore) sync() error {
	if r.noLog {
		return r.flush()
	}
	var failed *C.char
	C.rocksdb_flush_wal(r.db, 1, &failed)
	return rocksdbError(failed)
}

func (r *rocksdbStore) settle(stop func() bool) error {
	if err := r.flush(); err != nil {
		return err
	}
	var err error
	untilQuiet(stop, func() bool {
		busy := C.kv_busy(r.db)
		if busy < 0 {
			err = errors.New("RocksDB does not say whether it is busy")
		}
		return busy <= 0
	})
	return err
}

func (r *rocksdbStore) close() error {
	C.rocksdb_close(r.db)
	C.rocksdb_writeoptions_destroy(r.write)
	C.rocksdb_readoptions_destroy(r.read)
	C.rocksdb_readoptions_destroy(r.scans)
	return nil
}
