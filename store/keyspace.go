// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ashlar-dev/ashlar/internal/invariant"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/table"
)

// A keyspace is a range of the keys of the tree: those that begin with message.Reserved
// and its number. No other key is above message.Reserved, so the default keyspace is
// the range below it. Keyspaces share memtables, journal and tree, which know nothing
// about them; a batch over several keyspaces is an ordinary batch. Dropping one is a
// batch as well: it deletes the name and the range, and from then on the store refuses
// changes of the keyspace. Merges free the space of the range, mostly without reading
// it (trunk.Job.Covered).

// Keyspace is a set of keys with a name. Its keys are independent of those of
// other keyspaces and of those of the DB itself, the default keyspace. In all
// other respects its changes are like those of DB: they are in one order with all
// other changes, and durable with them. It is safe for concurrent use and need not
// be closed.
type Keyspace struct {
	db      *DB
	name    string
	number  uint32
	lo, hi  []byte      // of the keys as they are stored
	dropped atomic.Bool // set under DB.mu
}

// KeyspaceKeyMax is the longest key in a keyspace, in bytes.
const KeyspaceKeyMax = message.KeyMax - spaceStart

// spaceStart is the length of the prefix of the keys of a keyspace.
const spaceStart = len(message.Reserved) + 4

// keyspaceNameMax is the longest name, in bytes.
const keyspaceNameMax = 255

var (
	// ErrNoKeyspace reports that a keyspace was dropped, that it is one of another DB,
	// or that a store which is open for reading only has none with that name.
	ErrNoKeyspace = errors.New("no such keyspace")
	// ErrReserved reports a key of the default keyspace, or a bound above such keys,
	// that begins with twelve bytes 0xff, in a store with keyspaces.
	ErrReserved = errors.New("keys that begin with twelve bytes 0xff are reserved for keyspaces")
)

// keyspaces is what a DB knows about its keyspaces.
type keyspaces struct {
	db *DB
	// on reports that the store has keyspaces: both superblocks record it, or will
	// before the first keyspace exists. Closed is set first, under DB.mu: from then
	// on the default keyspace accepts no reserved keys.
	on     atomic.Bool
	closed bool

	making invariant.Mutex // a keyspace is made or dropped; before all locks of the store
	// making guards the other fields. Half reports that one superblock may not record yet
	// that the store has keyspaces. Known are those that were opened in this life and not
	// dropped. Last is the greatest number of a keyspace, once it was determined.
	half   bool
	known  map[string]*Keyspace
	last   uint32
	looked bool

	names sync.Map // of known ones by number, for errors
}

func (s *keyspaces) init(db *DB) {
	s.db = db
	s.making.SetRank(rankKeyspaces, "keyspaces")
	s.known = map[string]*Keyspace{}
}

// resume, called by recovery, receives the features of the superblock, and of the older one,
// which may be missing.
func (s *keyspaces) resume(f, older table.Features) {
	s.on.Store(f&table.Keyspaces != 0)
	s.closed = s.on.Load()
	s.half = s.on.Load() && older&table.Keyspaces == 0
}

// features are those that superblocks record.
func (s *keyspaces) features() table.Features {
	if s.on.Load() {
		return table.Keyspaces
	}
	return 0
}

// isReserved reports whether a change of the default keyspace reaches into keyspaces,
// if there are any.
func isReserved(kind message.Kind, key, value []byte) bool {
	if kind == message.RangeDelete {
		return len(value) > 0 && value[0] == 0xff && string(value) > message.Reserved
	}
	return len(key) > 0 && key[0] == 0xff && string(key) >= message.Reserved
}

// hides reports whether a key cannot be one of the default keyspace.
func (s *keyspaces) hides(key []byte) bool {
	return isReserved(message.Put, key, nil) && s.on.Load()
}

// mayChange returns an error for a change of the keyspace, nil being the default one.
// The caller holds DB.mu.
func (s *keyspaces) mayChange(k *Keyspace, reserved bool) error {
	if k != nil {
		return cmp.Or(k.of(s.db), k.live())
	}
	if reserved && s.closed {
		return ErrReserved
	}
	return nil
}

// mayCommit is mayChange for a batch. It ends the keyspace that the batch drops. The
// caller holds DB.mu, and makes the changes before it releases it.
func (s *keyspaces) mayCommit(b *Batch) error {
	if b.reserved && s.closed {
		return ErrReserved
	}
	for _, k := range b.spaces {
		if err := cmp.Or(k.of(s.db), k.live()); err != nil {
			return err
		}
	}
	if b.drops != nil {
		b.drops.dropped.Store(true)
	}
	return nil
}

// bounds are those of stored keys for bounds of keys, which they may alias.
func (s *keyspaces) bounds(k *Keyspace, lo, hi []byte) ([]byte, []byte) {
	if k == nil {
		if s.on.Load() && (hi == nil || string(hi) > message.Reserved) {
			hi = []byte(message.Reserved)
		}
		if hi != nil && bytes.Compare(lo, hi) > 0 {
			lo = hi
		}
		return lo, hi
	}
	lo = k.stored(lo)
	if hi == nil {
		return lo, k.hi
	}
	return lo, k.stored(hi)
}

func newKeyspace(db *DB, name string, number uint32) *Keyspace {
	k := &Keyspace{db: db, name: name, number: number}
	k.lo = binary.BigEndian.AppendUint32([]byte(message.Reserved), number)
	k.hi = binary.BigEndian.AppendUint32([]byte(message.Reserved), number+1)
	return k
}

// shown is a stored key as errors print it: with the name of its keyspace, or the number
// if the keyspace was not opened.
func (s *keyspaces) shown(key []byte) string {
	if len(key) < spaceStart || !s.hides(key) {
		return fmt.Sprintf("%.64q", key)
	}
	number := binary.BigEndian.Uint32(key[len(message.Reserved):])
	if name, ok := s.names.Load(number); ok {
		return fmt.Sprintf("%.64q of keyspace %q", key[spaceStart:], name)
	}
	return fmt.Sprintf("%.64q of keyspace %d", key[spaceStart:], number)
}

// start is the prefix of the stored keys of the keyspace.
func (k *Keyspace) start() []byte {
	if k == nil {
		return nil
	}
	return k.lo
}

// stored is a key as it is stored.
func (k *Keyspace) stored(key []byte) []byte {
	if k == nil {
		return key
	}
	return append(k.lo[:len(k.lo):len(k.lo)], key...)
}

func (k *Keyspace) live() error {
	if k.dropped.Load() {
		return fmt.Errorf("%w: %q was dropped", ErrNoKeyspace, k.name)
	}
	return nil
}

// of returns an error if the keyspace is not one of that DB. An earlier Open of the
// same store is another DB: the keyspace may have been dropped since.
func (k *Keyspace) of(db *DB) error {
	if k.db != db {
		return fmt.Errorf("%w: %q was opened in another DB", ErrNoKeyspace, k.name)
	}
	return nil
}

// entry is the key of a name in the list of keyspaces; the one of no name has the
// last number.
func entry(name string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte(message.Reserved), 0), name...)
}

// Keyspace returns the keyspace with that name, of 1 to 255 bytes. If there is none,
// it makes one, except in a store that is open for reading only. The keyspace
// becomes durable with its first durable change.
//
// The first keyspace of a store makes two checkpoints. From then on programs that do
// not support keyspaces cannot open the store, and the default keyspace refuses keys
// that begin with twelve bytes 0xff; the error is ErrReserved if it has such keys.
// After any other error the default keyspace may already refuse them; the next call
// continues from there.
func (db *DB) Keyspace(name string) (*Keyspace, error) {
	if name == "" || len(name) > keyspaceNameMax {
		return nil, fmt.Errorf("%w: name of %d bytes, want 1 to %d", ErrNoKeyspace, len(name), keyspaceNameMax)
	}
	s := &db.spaces
	s.making.Lock()
	defer s.making.Unlock()
	if k := s.known[name]; k != nil && k.live() == nil {
		return k, db.open()
	}
	number, err := db.keyspaceNumber(name)
	if errors.Is(err, ErrNotFound) {
		number, err = db.makeKeyspace(name)
	}
	if err != nil {
		return nil, err
	}
	k := newKeyspace(db, name, number)
	s.known[name] = k
	s.names.Store(number, name)
	return k, nil
}

// keyspaceNumber reads an entry of the list of keyspaces.
func (db *DB) keyspaceNumber(name string) (uint32, error) {
	if !db.spaces.on.Load() {
		return 0, cmp.Or(db.open(), ErrNotFound)
	}
	value, err := db.getLatest(entry(name), nil)
	if err != nil {
		return 0, err
	}
	return decodeNumber(name, value)
}

func decodeNumber(name string, value []byte) (uint32, error) {
	if len(value) != 4 {
		return 0, &CorruptError{File: "the list of keyspaces", Lo: entry(name), Hi: entry(name), Want: "4 bytes", Found: fmt.Sprint(len(value))}
	}
	return binary.BigEndian.Uint32(value), nil
}

// makeKeyspace adds a name to the list. The caller holds keyspaces.making.
func (db *DB) makeKeyspace(name string) (uint32, error) {
	if db.opt.ReadOnly {
		return 0, fmt.Errorf("%w: %q", ErrNoKeyspace, name)
	}
	if err := db.reserveKeys(); err != nil {
		return 0, err
	}
	last, err := db.lastNumber()
	if err != nil {
		return 0, err
	}
	if last >= 1<<32-2 {
		return 0, fmt.Errorf("%w: no more keyspace numbers", ErrTooLarge)
	}
	number := binary.BigEndian.AppendUint32(nil, last+1)
	b := &Batch{}
	b.append(message.Put, entry(""), number)
	b.append(message.Put, entry(name), number)
	db.spaces.last = last + 1
	return last + 1, db.Commit(b, NoSync)
}

// lastNumber is the greatest number that a keyspace has had. The list has it, under no
// name; but a repair may have had to leave that entry out, or to take an older one. So
// all of the list counts, and the greatest key, in the first call of a life. The caller
// holds keyspaces.making.
func (db *DB) lastNumber() (last uint32, err error) {
	s := &db.spaces
	if s.looked {
		return s.last, nil
	}
	list, err := newKeyspace(db, "", 0).Iterate(IterOptions{})
	if err != nil {
		return 0, err
	}
	for ok := list.First(); ok && err == nil; ok = list.Next() {
		var number uint32
		number, err = decodeNumber(string(list.Key()), list.Value())
		last = max(last, number)
	}
	if err := cmp.Or(list.Close(), err); err != nil {
		return 0, err
	}
	all, err := db.openIter(&Iterator{db: db, lo: []byte(message.Reserved), keysOnly: true}, message.MaxSeq)
	if err != nil {
		return 0, err
	}
	if all.Last() && len(all.Key()) >= spaceStart {
		last = max(last, binary.BigEndian.Uint32(all.Key()[len(message.Reserved):]))
	}
	if err := all.Close(); err != nil {
		return 0, err
	}
	s.last, s.looked = last, true
	return last, nil
}

// reserveKeys makes the store one with keyspaces. The caller holds keyspaces.making.
func (db *DB) reserveKeys() error {
	s := &db.spaces
	if s.on.Load() && !s.half {
		return nil
	}
	if !s.on.Load() {
		s.setClosed(db, true)
		if err := db.noneReserved(); err != nil {
			s.setClosed(db, false)
			return err
		}
		s.half = true
		s.on.Store(true)
	}
	// Both superblocks: if the newer one is damaged, the older one leads to what the
	// journal has of keyspaces.
	for range 2 {
		if err := db.checkpoint(); err != nil {
			s.giveUp(db)
			return err
		}
	}
	s.half = false
	return nil
}

// giveUp returns the reserved keys to the default keyspace, if no superblock can record
// that the store has keyspaces: one that does is permanent, and hides those keys in the
// next life.
func (s *keyspaces) giveUp(db *DB) {
	db.checkpoints.lock()
	defer db.checkpoints.unlock()
	if db.err() == nil && db.checkpoints.features() == 0 {
		s.on.Store(false)
		s.half = false
		s.setClosed(db, false)
	}
}

func (s *keyspaces) setClosed(db *DB, closed bool) {
	db.mu.Lock()
	defer db.mu.Unlock()
	s.closed = closed
}

// noneReserved returns an error if the default keyspace has keys that are to be
// reserved. No more of them are taken.
func (db *DB) noneReserved() error {
	it, err := db.Iterate(IterOptions{Lo: []byte(message.Reserved), KeysOnly: true})
	if err != nil {
		return err
	}
	if it.First() {
		err = fmt.Errorf("%w: the store has %q", ErrReserved, it.Key())
	}
	return cmp.Or(it.Close(), err)
}

// Keyspaces returns the names of the keyspaces, in order.
func (db *DB) Keyspaces() ([]string, error) {
	if !db.spaces.on.Load() {
		return nil, db.open()
	}
	list := newKeyspace(db, "", 0)
	it, err := list.Iterate(IterOptions{Lo: []byte{0}, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	var names []string
	for ok := it.First(); ok; ok = it.Next() {
		names = append(names, string(it.Key()))
	}
	return names, it.Close()
}

// Name is the name of the keyspace.
func (k *Keyspace) Name() string { return k.name }

// Drop removes the keyspace with all its keys. Drop is one small batch, however many
// keys there are; merges free the space afterwards. A keyspace made later with the
// same name is a different, empty one. This Keyspace, and any other for the same
// keyspace, then refuses changes and reads of the current state (ErrNoKeyspace);
// earlier iterators and snapshots continue to work.
func (k *Keyspace) Drop() error {
	db := k.db
	db.spaces.making.Lock()
	defer db.spaces.making.Unlock()
	b := &Batch{spaces: []*Keyspace{k}, drops: k}
	b.append(message.Delete, entry(k.name), nil)
	b.append(message.RangeDelete, k.lo, k.hi)
	err := db.Commit(b, NoSync)
	if s := &db.spaces; k.dropped.Load() && s.known[k.name] == k {
		delete(s.known, k.name)
		s.names.Delete(k.number)
	}
	if err != nil {
		return err
	}
	return db.writeSoon()
}

// writeSoon ends the active memtable, so that merges give back what it deletes, if
// that is possible without waiting.
func (db *DB) writeSoon() error {
	db.mu.Lock()
	s := db.current.Load()
	if db.err() == nil && db.open() == nil && len(s.mems) == 1 && s.mems[0].table.Len() > 0 && !db.crowded() {
		_ = db.rotate() // without memory it is written later
	}
	db.mu.Unlock()
	return db.inline()
}

// Get is DB.Get in the keyspace.
func (k *Keyspace) Get(key, dst []byte) ([]byte, error) {
	if err := k.live(); err != nil {
		return dst, err
	}
	return k.db.getLatest(k.stored(key), dst)
}

// Put is DB.Put in the keyspace.
func (k *Keyspace) Put(key, value []byte) error {
	return k.db.change(k, message.Put, k.stored(key), value)
}

// Delete is DB.Delete in the keyspace.
func (k *Keyspace) Delete(key []byte) error {
	return k.db.change(k, message.Delete, k.stored(key), nil)
}

// DeleteRange removes all keys in [lo, hi) of the keyspace; a nil hi is its end.
func (k *Keyspace) DeleteRange(lo, hi []byte) error {
	b := &Batch{}
	b.In(k).DeleteRange(lo, hi)
	return k.db.Commit(b, NoSync)
}

// Merge is DB.Merge in the keyspace.
func (k *Keyspace) Merge(key, operand []byte) error {
	return k.db.change(k, message.Merge, k.stored(key), operand)
}

// Iter is DB.Iter in the keyspace.
func (k *Keyspace) Iter(lo, hi []byte) (*Iterator, error) {
	return k.Iterate(IterOptions{Lo: lo, Hi: hi})
}

// Iterate is DB.Iterate in the keyspace.
func (k *Keyspace) Iterate(o IterOptions) (*Iterator, error) {
	if err := k.live(); err != nil {
		return nil, err
	}
	return k.db.iter(k, o, message.MaxSeq)
}

// Ingest is DB.Ingest for records of the keyspace.
func (k *Keyspace) Ingest() (*Ingest, error) {
	if err := k.live(); err != nil {
		return nil, err
	}
	return k.db.newIngest(k)
}

// Messages is DB.Messages in the keyspace, with the keys of the keyspace. A range
// delete up to its end has a nil Value.
func (k *Keyspace) Messages(lo, hi []byte, visit func(where string, m message.Message) (more bool)) error {
	lo, hi = k.db.spaces.bounds(k, lo, hi)
	return k.db.Messages(lo, hi, func(where string, m message.Message) bool {
		m.Key = bytes.TrimPrefix(m.Key, k.lo)
		if m.Kind == message.RangeDelete {
			if bytes.Equal(m.Value, k.hi) {
				m.Value = nil
			} else {
				m.Value = bytes.TrimPrefix(m.Value, k.lo)
			}
		}
		return visit(where, m)
	})
}

// KeyspaceBatch adds changes of one keyspace to a batch.
type KeyspaceBatch struct {
	b *Batch
	k *Keyspace
}

// In returns a KeyspaceBatch, which adds changes of a keyspace to the batch. The
// changes of a batch, of any keyspaces of one DB, become visible and durable
// together. Commit of another DB returns ErrNoKeyspace.
func (b *Batch) In(k *Keyspace) KeyspaceBatch { return KeyspaceBatch{b, k} }

// Put is Batch.Put in the keyspace.
func (b KeyspaceBatch) Put(key, value []byte) { b.b.add(b.k, message.Put, b.k.stored(key), value) }

// Delete is Batch.Delete in the keyspace.
func (b KeyspaceBatch) Delete(key []byte) { b.b.add(b.k, message.Delete, b.k.stored(key), nil) }

// DeleteRange is Batch.DeleteRange in the keyspace; a nil hi is its end.
func (b KeyspaceBatch) DeleteRange(lo, hi []byte) {
	end := b.k.hi
	if hi != nil {
		end = b.k.stored(hi)
	}
	b.b.deleteRange(b.k, b.k.stored(lo), end)
}

// Merge is Batch.Merge in the keyspace.
func (b KeyspaceBatch) Merge(key, operand []byte) {
	b.b.add(b.k, message.Merge, b.k.stored(key), operand)
}

// KeyspaceSnapshot reads one keyspace in a snapshot.
type KeyspaceSnapshot struct {
	s *Snapshot
	k *Keyspace
}

// In returns a KeyspaceSnapshot, which reads a keyspace in the snapshot, even one that
// was dropped since. It ends with the snapshot. Reads of a keyspace of another DB
// return ErrNoKeyspace.
func (s *Snapshot) In(k *Keyspace) KeyspaceSnapshot { return KeyspaceSnapshot{s, k} }

// Get is Snapshot.Get in the keyspace.
func (s KeyspaceSnapshot) Get(key, dst []byte) ([]byte, error) {
	if err := s.k.of(s.s.db); err != nil {
		return dst, err
	}
	return s.s.get(s.k.stored(key), dst)
}

// Iter is Snapshot.Iter in the keyspace.
func (s KeyspaceSnapshot) Iter(lo, hi []byte) (*Iterator, error) {
	return s.Iterate(IterOptions{Lo: lo, Hi: hi})
}

// Iterate is Snapshot.Iterate in the keyspace.
func (s KeyspaceSnapshot) Iterate(o IterOptions) (*Iterator, error) {
	if err := s.k.of(s.s.db); err != nil {
		return nil, err
	}
	return s.s.iter(s.k, o)
}

// userMerger passes keys of keyspaces to a merger without their prefixes.
type userMerger struct {
	Merger
	spaces *keyspaces
}

func (m userMerger) key(key []byte) []byte {
	if len(key) >= spaceStart && m.spaces.hides(key) {
		return key[spaceStart:]
	}
	return key
}

// Combine implements Merger.
func (m userMerger) Combine(dst, key, older, newer []byte) []byte {
	return m.Merger.Combine(dst, m.key(key), older, newer)
}

// Apply implements Merger.
func (m userMerger) Apply(dst, key, value []byte, exists bool, operand []byte) []byte {
	return m.Merger.Apply(dst, m.key(key), value, exists, operand)
}
