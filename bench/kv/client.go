// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// client is one of those that put load on a store. It is closed-loop: the next
// operation begins when the last one is done.
type client struct {
	store   store
	ledger  *ledger
	format  format
	load    workload
	chooser chooser
	source  *source
	// tail is the highest rank of any key: a short scan may end there only.
	tail *atomic.Uint64

	key, value, got, scratch, last []byte
	latency                        [opKinds]*hdrhistogram.Histogram // nanoseconds
	user                           int64                            // bytes of keys and values written
}

// Latencies are kept from 1 ns to 200 s with two digits, which is within 1 %.
const (
	latencyMax    = int64(200 * time.Second)
	latencyDigits = 2
)

// do runs one operation.
func (c *client) do() error {
	kind := c.load.kind(c.source)
	h := c.latency[kind]
	if h == nil {
		h = hdrhistogram.New(1, latencyMax, latencyDigits)
		c.latency[kind] = h
	}
	took, err := c.op(kind)
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return h.RecordValue(min(max(1, took.Nanoseconds()), latencyMax))
}

func (c *client) op(kind opKind) (time.Duration, error) {
	switch kind {
	case opRead:
		return c.read(c.chooser.record())
	case opAbsent:
		c.key = appendKey(c.key[:0], absent+c.source.next()>>16)
		start := time.Now()
		_, err := c.store.get(c.key, c.got[:0])
		took := time.Since(start)
		if !errors.Is(err, errAbsent) {
			return 0, fmt.Errorf("key %s was never put; expected that it is absent, found %v", c.key, err)
		}
		return took, nil
	case opUpdate:
		return c.write(c.chooser.record())
	case opInsert:
		record, ok := c.ledger.insert()
		if !ok {
			return 0, errors.New("no room for more records")
		}
		took, err := c.write(record)
		if c.chooser.how == pickLatest {
			c.chooser.own = append(c.chooser.own, record)
		}
		for r := rank(record); ; {
			old := c.tail.Load()
			if r <= old || c.tail.CompareAndSwap(old, r) {
				return took, err
			}
		}
	case opModify:
		record := c.chooser.record()
		read, err := c.read(record)
		if err != nil {
			return 0, err
		}
		write, err := c.write(record)
		return read + write, err
	case opMerge:
		return c.merge(c.chooser.record())
	case opScan:
		return c.scan(c.chooser.record(), 1+int(c.source.below(scanMax)))
	}
	panic("unknown kind of operation")
}

func (c *client) read(record uint64) (time.Duration, error) {
	c.key = appendKey(c.key[:0], record)
	low := c.ledger.low(record)
	start := time.Now()
	got, err := c.store.get(c.key, c.got[:0])
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("record %d (key %s): %w", record, c.key, err)
	}
	c.got = got
	c.ledger.touch(record)
	_, err = c.verify(record, got, low)
	return took, err
}

// verify compares a value with what the ledger says.
func (c *client) verify(record uint64, value []byte, low uint32) (uint32, error) {
	version, scratch, err := c.format.check(record, value, c.scratch)
	c.scratch = scratch
	if err != nil {
		return 0, err
	}
	if high := c.ledger.high(record); version < low || version > high {
		return 0, &badValue{record, fmt.Sprintf("version %d to %d", low, high), fmt.Sprintf("version %d", version)}
	}
	return version, nil
}

func (c *client) write(record uint64) (time.Duration, error) {
	version := c.ledger.begin(record)
	c.key = appendKey(c.key[:0], record)
	c.value = c.format.appendValue(c.value[:0], record, version)
	start := time.Now()
	err := c.store.put(c.key, c.value)
	took := time.Since(start)
	c.ledger.end(record)
	c.user += int64(len(c.key) + len(c.value))
	return took, err
}

// merge counts one up: blindly where the store can, else by reading the value
// and putting it back.
func (c *client) merge(record uint64) (time.Duration, error) {
	c.key = appendKey(c.key[:0], record)
	one := operand(1)
	c.ledger.begin(record)
	defer c.ledger.end(record)
	start := time.Now()
	c.user += int64(len(c.key) + len(one)) // by hand it is no more to the user
	if m, ok := c.store.(merger); ok {
		err := m.merge(c.key, one)
		return time.Since(start), err
	}
	defer c.ledger.alone(record)()
	got, err := c.store.get(c.key, c.got[:0])
	if err != nil {
		return 0, fmt.Errorf("record %d (key %s): %w", record, c.key, err)
	}
	c.got = got
	applyOperand(got, one)
	err = c.store.put(c.key, got)
	return time.Since(start), err
}

// scan reads want records from a record on, which has to be the first; the
// order has to be that of keys, and only the end of the store may cut it short.
func (c *client) scan(record uint64, want int) (time.Duration, error) {
	c.key = appendKey(c.key[:0], record)
	c.last = c.last[:0]
	tail := c.tail.Load()
	n := 0
	var bad error
	start := time.Now()
	err := c.store.scan(c.key, want, func(key, value []byte) bool {
		if n == 0 && !bytes.Equal(key, c.key) {
			bad = fmt.Errorf("scan from %s: expected that key first, found %s", c.key, key)
		} else if _, e := c.visit(key, value); e != nil {
			bad = fmt.Errorf("scan from %s: %w", c.key, e)
		}
		n++
		return bad == nil && n < want
	})
	took := time.Since(start)
	switch {
	case bad != nil:
		return 0, bad
	case err != nil:
		return 0, fmt.Errorf("scan from %s: %w", c.key, err)
	case n < want && (n == 0 || bytes.Compare(c.last, appendRank(nil, tail)) < 0):
		return 0, fmt.Errorf("scan from %s: expected %d records, found %d, and %s is not the last", c.key, want, n, c.last)
	}
	return took, nil
}

// visit checks one record of a scan, and that it comes after the one before.
func (c *client) visit(key, value []byte) (record uint64, err error) {
	if len(c.last) > 0 && bytes.Compare(c.last, key) >= 0 {
		return 0, fmt.Errorf("expected a key above %s, found %s", c.last, key)
	}
	c.last = append(c.last[:0], key...)
	record, err = recordOf(value)
	if err != nil {
		return 0, err
	}
	if record >= c.ledger.records.Load() {
		return 0, fmt.Errorf("key %s: record %d in its value was never inserted", key, record)
	}
	if want := appendKey(c.scratch[:0], record); !bytes.Equal(want, key) {
		return 0, fmt.Errorf("key %s: its value is that of record %d with key %s", key, record, want)
	}
	// What a scan saw may be as old as its start: with one client there is
	// nothing newer, with several only the upper end can be held against it.
	low := uint32(1)
	if c.ledger.clients == 1 {
		low = c.ledger.low(record)
	}
	_, err = c.verify(record, value, low)
	return record, err
}

// fullScan reads everything; deadline says when to give up.
func (c *client) fullScan(stop func() bool, progress *atomic.Int64) (records int64, complete bool, err error) {
	c.last = c.last[:0]
	complete = true
	var bad error
	err = c.store.scan(nil, 0, func(key, value []byte) bool {
		if _, bad = c.visit(key, value); bad != nil {
			return false
		}
		records++
		if records%1024 == 0 {
			progress.Store(records)
			complete = !stop()
		}
		return complete
	})
	if err = errors.Join(bad, err); err != nil {
		return records, false, fmt.Errorf("scan: %w", err)
	}
	if want := int64(c.ledger.records.Load()); complete && records != want {
		return records, true, fmt.Errorf("scan over everything: expected %d records, found %d", want, records)
	}
	return records, complete, nil
}
