// SPDX-License-Identifier: Apache-2.0

package store

import "github.com/ashlar-dev/ashlar/internal/store/message"

// KeyspaceTx reads and changes one keyspace in a transaction.
type KeyspaceTx struct {
	tx *Tx
	k  *Keyspace
}

// In returns a KeyspaceTx, which reads and changes a keyspace in the transaction. One
// transaction may use any number of keyspaces. The KeyspaceTx ends with the
// transaction. Dropping a keyspace changes all its keys; a transaction that has
// changed the keyspace then does not commit (ErrNoKeyspace). A keyspace of another DB
// is refused with the same error.
func (tx *Tx) In(k *Keyspace) KeyspaceTx { return KeyspaceTx{tx, k} }

// Get is Tx.Get in the keyspace.
func (t KeyspaceTx) Get(key, dst []byte) ([]byte, error) {
	if err := t.k.of(t.tx.db); err != nil {
		return dst, err
	}
	return t.tx.get(t.k.stored(key), dst)
}

// Put is Tx.Put in the keyspace.
func (t KeyspaceTx) Put(key, value []byte) error {
	return t.tx.change(t.k, message.Put, t.k.stored(key), value)
}

// Delete is Tx.Delete in the keyspace.
func (t KeyspaceTx) Delete(key []byte) error {
	return t.tx.change(t.k, message.Delete, t.k.stored(key), nil)
}

// DeleteRange is Tx.DeleteRange in the keyspace; a nil hi is its end.
func (t KeyspaceTx) DeleteRange(lo, hi []byte) error {
	end := t.k.hi
	if hi != nil {
		end = t.k.stored(hi)
	}
	return t.tx.change(t.k, message.RangeDelete, t.k.stored(lo), end)
}

// Merge is Tx.Merge in the keyspace.
func (t KeyspaceTx) Merge(key, operand []byte) error {
	return t.tx.change(t.k, message.Merge, t.k.stored(key), operand)
}

// Iter is Tx.Iter in the keyspace.
func (t KeyspaceTx) Iter(lo, hi []byte) (*TxIterator, error) {
	return t.Iterate(IterOptions{Lo: lo, Hi: hi})
}

// Iterate is Tx.Iterate in the keyspace.
func (t KeyspaceTx) Iterate(o IterOptions) (*TxIterator, error) {
	if err := t.k.of(t.tx.db); err != nil {
		return nil, err
	}
	return t.tx.iterate(t.k, o)
}
