// SPDX-License-Identifier: Apache-2.0

package resp

// Kind is what an Op does.
type Kind uint8

// The operations.
const (
	Get Kind = iota + 1
	Set
	Delete
	// Incr adds Delta to a decimal number; an absent one is 0.
	Incr
	Append
	// Count counts all keys. It has no key of its own, and takes effect behind
	// the other operations of its Txn.
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

// Watch is a key, and the version that it must still have.
type Watch struct {
	Key     string
	Version uint64
}

// Txn is operations that happen together, in order, if no watched key has changed.
type Txn struct {
	Watches []Watch
	Ops     []Op
}

// Failure is why an operation did nothing, though its condition held.
type Failure uint8

// The failures.
const (
	None Failure = iota
	NotInteger
	Overflow
	TooLong
	// Unavailable: the keys could not be counted.
	Unavailable
)

// Result is what an operation has found and done.
type Result struct {
	Failure Failure
	// Done: its condition held. Found: the key was there before.
	Done, Found bool
	// Value is that of a Get, Number the sum of an Incr, the length after an
	// Append or a Count, Version what a Watch compares.
	Value   []byte
	Number  int64
	Version uint64
}

// Store runs transactions.
type Store interface {
	// Do runs a transaction and calls done, once, at any time. Held is false when
	// a watched key had changed; otherwise there is a result for each operation.
	// Err is for people; after it the transaction was not done, unless the text
	// says otherwise. The Txn is the Store's.
	Do(t *Txn, done func(held bool, results []Result, err error))
}
