// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// The variants of how registers are kept.
const (
	variantQuorum3 = "quorum3" // three servers, Paxos, as without a variant
	variantChain3  = "chain3"  // a chain of three
	variantChain2  = "chain2"  // a chain of two
)

// ours is WormSpace, by its Go client, which all clients of the process share.
type ours struct {
	job    clientJob
	client *worm.Client
	log    *worm.Log
	// Of each client: its segment's token, and buffers.
	tokens []*wor.Token
	values [][]byte
	places [][]log.Position
}

// window is how many registers a token covers.
const window = wor.RangeMax

func openOurs(job clientJob) (session, error) {
	c, err := worm.Open(worm.Options{Genesis: job.Where.Genesis, Space: space.Options{KnownMax: knownMax(job.Op)}})
	if err != nil {
		return nil, err
	}
	o := &ours{job: job, client: c, tokens: make([]*wor.Token, job.Clients), places: make([][]log.Position, job.Clients)}
	for range job.Clients {
		o.values = append(o.values, make([]byte, job.Value))
	}
	return o, nil
}

// knownMax is space.Options.KnownMax: only `cached` reads what the client knows.
func knownMax(op string) int64 {
	if op == "cached" {
		return 0
	}
	return -1
}

func (o *ours) close() {
	if o.log != nil {
		o.log.Close()
	}
	o.client.Close()
}

// segment is the one of a client of this process; of the reading operations there
// is one for all of it.
func (o *ours) segment(client int) wor.Segment {
	return wor.Segment(1 + o.job.Phase*clientsMax + o.job.First + client)
}

func (o *ours) meta() wor.Meta {
	m := wor.Meta{Owner: uint64(o.job.Phase + 1), Size: wor.SegmentMax}
	switch {
	case o.job.Variant == variantChain3:
		m.Protocol = wor.Chain
	case o.job.Variant == variantChain2:
		m.Protocol, m.Partition = wor.Chain, partitionTwo
	case o.job.Op == "once":
		m.Protocol = wor.Fast
	}
	return m
}

func (o *ours) prepare(ctx context.Context) error {
	switch o.job.Op {
	case "append", "append1":
		var lo worm.LogOptions
		if o.job.Op == "append1" {
			lo.Prefetch = log.CountMax
		}
		var err error
		o.log, err = o.client.Log(ctx, o.logID(), lo)
		return err
	case "read", "cached":
		if _, err := o.client.Alloc(ctx, o.segment(0), o.meta()); err != nil {
			return err
		}
		for seq := range decided {
			if err := o.write(ctx, 0, seq); err != nil {
				return err
			}
			if o.job.Op == "cached" {
				if err := o.read(ctx, seq); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return each(o.job.Clients, func(client int) error {
		if _, err := o.client.Alloc(ctx, o.segment(client), o.meta()); err != nil {
			return err
		}
		return nil
	})
}

func (o *ours) logID() log.ID { return log.ID(1<<20 + o.job.Phase) }

// each runs f for each of n clients at a time.
func each(n int, f func(client int) error) error {
	var wait sync.WaitGroup
	errs := make([]error, n)
	for client := range n {
		wait.Go(func() { errs[client] = f(client) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (o *ours) write(ctx context.Context, client, seq int) error {
	t := o.tokens[client]
	if t == nil || seq >= int(t.Range.Hi) {
		var err error
		if t, err = o.client.Capture(ctx, wor.Range{Segment: o.segment(client), Lo: uint32(seq), Hi: uint32(seq + window)}); err != nil {
			return err
		}
		o.tokens[client] = t
	}
	return o.client.Write(ctx, t, uint32(seq), fill(o.values[client], client, seq))
}

// spread is the register or key that a reading operation reads.
func spread(client, seq int) int { return (client*7919 + seq*104729) % decided }

func (o *ours) do(ctx context.Context, client, seq int) error {
	switch o.job.Op {
	case "once":
		return o.client.Propose(ctx, wor.Addr{Segment: o.segment(client), Offset: uint32(seq)}, fill(o.values[client], client, seq))
	case "append", "append1":
		at, err := o.log.Append(ctx, fill(o.values[client], o.job.First+client, seq))
		o.places[client] = append(o.places[client], at)
		return err
	case "read":
		return o.read(ctx, spread(client, seq))
	case "cached":
		return o.known(spread(client, seq))
	}
	return o.write(ctx, client, seq)
}

func (o *ours) read(ctx context.Context, at int) error {
	v, err := o.client.Read(ctx, wor.Addr{Segment: o.segment(0), Offset: uint32(at)})
	if err != nil {
		return err
	}
	return checkValue(v, o.job.Value, 0, at)
}

// known looks at a register that the client knows to be decided, which asks no server;
// Read does, as the segment may have been trimmed.
func (o *ours) known(at int) error {
	v, err := knownTo(o.client, wor.Addr{Segment: o.segment(0), Offset: uint32(at)})
	if err != nil {
		return err
	}
	return checkValue(v, o.job.Value, 0, at)
}

func knownTo(c *worm.Client, a wor.Addr) (v []byte, err error) {
	in(c.Serial(), func() {
		var ok bool
		if v, ok = c.Space().Known(a); !ok {
			err = fmt.Errorf("%v is not known", a)
		}
	})
	return v, err
}

// verify reads everything with a client that knows nothing.
func (o *ours) verify(ctx context.Context, done []int) error {
	c, err := worm.Open(worm.Options{Genesis: o.job.Where.Genesis})
	if err != nil {
		return err
	}
	defer c.Close()
	switch o.job.Op {
	case "read", "cached":
		return nil // asserted one by one
	case "append", "append1":
		return o.verifyLog(ctx, c)
	}
	for client, n := range done {
		if err := o.verifySegment(ctx, c, client, n); err != nil {
			return err
		}
	}
	return nil
}

// chunk is how many registers are read back at a time.
const chunk = 4096

func (o *ours) verifySegment(ctx context.Context, c *worm.Client, client, n int) error {
	for at := 0; at <= n; at += chunk {
		// One more than there are: nothing was written behind them.
		r := wor.Range{Segment: o.segment(client), Lo: uint32(at), Hi: uint32(min(at+chunk, n+1))}
		cells, err := c.ReadRange(ctx, r)
		if err != nil {
			return err
		}
		if len(cells) != r.Len() {
			return fmt.Errorf("%v: %d cells", r, len(cells))
		}
		for i, cell := range cells {
			if at+i == n {
				if !errors.Is(cell.Err, wor.ErrUnwritten) {
					return fmt.Errorf("%v: written by nobody, but there is %v", cell.Addr, cell.Err)
				}
				continue
			}
			if cell.Err != nil {
				return fmt.Errorf("%v: %w", cell.Addr, cell.Err)
			}
			if err := checkValue(cell.Value, o.job.Value, client, at+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyLog reads the log back: each acknowledged entry is at its place. Where no
// positions were fetched ahead it reads all of it, and finds that entries of this
// process are nowhere else; otherwise it would wait for those not used.
func (o *ours) verifyLog(ctx context.Context, c *worm.Client) error {
	type entry struct{ client, seq int }
	want := map[log.Position]entry{}
	for client, places := range o.places {
		for seq, at := range places {
			if was, twice := want[at]; twice {
				return fmt.Errorf("position %v was given to client %d and %d", at, was.client, client)
			}
			want[at] = entry{client, seq}
		}
	}
	l, err := c.Log(ctx, o.logID(), worm.LogOptions{})
	if err != nil {
		return err
	}
	defer l.Close()
	check := func(e log.Entry) error {
		w, ours := want[e.Position]
		if !ours {
			return fmt.Errorf("position %v: an entry that nobody was told of", e.Position)
		}
		if err := checkValue(e.Data, o.job.Value, o.job.First+w.client, w.seq); err != nil {
			return fmt.Errorf("position %v: %w", e.Position, err)
		}
		return nil
	}
	if o.job.Op == "append1" {
		return each(len(o.places), func(client int) error {
			for _, at := range o.places[client] {
				e, err := l.Read(ctx, at)
				if err == nil {
					err = check(e)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	tail, err := l.Tail(ctx)
	if err != nil {
		return err
	}
	found := 0
	for e, err := range l.Entries(ctx, 0, tail) {
		if err != nil {
			return err
		}
		if n := int(binary.BigEndian.Uint64(e.Data)) - o.job.First; n < 0 || n >= o.job.Clients {
			continue // another process's
		}
		if err := check(e); err != nil {
			return err
		}
		found++
	}
	if found != len(want) {
		return fmt.Errorf("%d of %d entries are in the log", found, len(want))
	}
	return nil
}
