// SPDX-License-Identifier: Apache-2.0

package resp

// Kind is the kind of an Op.
type Kind uint8

// The operations.
const (
	Get Kind = iota + 1
	Set
	Delete
	// Incr adds Delta to a decimal number; an absent key counts as 0.
	Incr
	Append
	// Count counts all keys of the store. It has no key, and counts after the
	// other operations of its Txn have taken effect.
	Count
)

// When is a condition of one operation; if it does not hold, the operation does
// nothing.
type When uint8

// The conditions.
const (
	Always When = iota
	IfAbsent
	IfPresent
)

// Op is one operation on a key.
type Op struct {
	Kind  Kind
	When  When
	Key   string
	Value []byte
	Delta int64
}

// Watch is a key, and the version that the key must still have.
type Watch struct {
	Key     string
	Version uint64
}

// Txn is a transaction: its operations take effect atomically, in order, if no
// watched key has changed.
type Txn struct {
	Watches []Watch
	Ops     []Op
}

// Failure is the reason why an operation did nothing although its condition
// held.
type Failure uint8

// The failures.
const (
	None Failure = iota
	NotInteger
	Overflow
	TooLong
	// Unavailable: the Store could not count the keys.
	Unavailable
)

// Result is the result of an operation.
type Result struct {
	Failure Failure
	// Done: its condition held. Found: the key was there before.
	Done, Found bool
	// Value is the result of a Get. Number is the sum of an Incr, the new
	// length after an Append, or the result of a Count. Version is the key's
	// version, for a Watch.
	Value   []byte
	Number  int64
	Version uint64
}

// Store runs transactions.
type Store interface {
	// Do runs a transaction and calls done once, at any time. If a watched key
	// has changed, held is false; otherwise results has one for each operation. If
	// err is not nil, its text is for people, and the transaction was not
	// performed unless the text says otherwise. The Store owns the Txn.
	Do(t *Txn, done func(held bool, results []Result, err error))
}
