// SPDX-License-Identifier: Apache-2.0

// Package keys is a store of keys with values that programs of examples/dedalus keep on
// many machines: its commands are what the program puts in order.
//
// In: gets and puts. Out: what was there. A Store is a client of a program that runs, and
// knows two kinds of them: paxos and multipaxos decide a log of commands, which a Store
// is told and applies itself; comppaxos has replicas that apply it.
//
// Promised: operations of all clients are linearizable, as long as the program decides
// one command for each slot; a Replica that is told of two says so.
//
// Refused: snapshots; a Replica keeps the log.
package keys

import (
	"fmt"
	"strings"
)

// Op is an operation: a put, or a get.
type Op struct {
	Key string
	// Value is what is put; empty for a get.
	Value string
}

// String is KEY=VALUE.
func (o Op) String() string { return o.Key + "=" + o.Value }

// Command is the operation as a command of a log. The name, which has no blank, makes it
// another one than all other commands.
func (o Op) Command(name string) string { return name + " " + o.String() }

// Parse reads a command; it is false for what is none, as a noop.
func Parse(command string) (Op, bool) {
	_, text, ok := strings.Cut(command, " ")
	if !ok {
		return Op{}, false
	}
	key, value, ok := strings.Cut(text, "=")
	return Op{key, value}, ok
}

// Replica applies a log of commands, slot after slot. A command that is there twice counts
// where it is first.
type Replica struct {
	log    map[uint64]string
	next   uint64 // slot that is applied next
	keys   map[string]string
	before map[string]string // by command: the value that its key had
}

// NewReplica has an empty log, and no keys.
func NewReplica() *Replica {
	return &Replica{log: map[uint64]string{}, keys: map[string]string{}, before: map[string]string{}}
}

// Tell says what a slot has. It may be told in any order, and again. The error says that
// the slot has two commands.
func (r *Replica) Tell(slot uint64, command string) error {
	if was, ok := r.log[slot]; ok {
		if was != command {
			return fmt.Errorf("slot %d has %q and %q", slot, was, command)
		}
		return nil
	}
	r.log[slot] = command
	for {
		c, ok := r.log[r.next]
		if !ok {
			return nil
		}
		r.next++
		r.apply(c)
	}
}

func (r *Replica) apply(command string) {
	o, ok := Parse(command)
	if _, again := r.before[command]; again || !ok {
		return
	}
	r.before[command] = r.keys[o.Key]
	if o.Value != "" {
		r.keys[o.Key] = o.Value
	}
}

// Applied is how many slots are applied: those below it.
func (r *Replica) Applied() uint64 { return r.next }

// Before is the value that a command's key had before it; false while it is not applied.
func (r *Replica) Before(command string) (string, bool) {
	v, ok := r.before[command]
	return v, ok
}

// Result is what an operation answers, given the value before: that, or what was put.
func (o Op) Result(before string) string {
	if o.Value != "" {
		return o.Value
	}
	return before
}
