// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// count is the messages of an operation, means over some.
type count struct {
	Op             string
	Times          int
	Calls, Invokes float64
	// Trips is rounds of messages: requests that left together count as one.
	Trips, Must float64
}

// tap is a transport that counts what it carries. It belongs to its Serial.
type tap struct {
	wor.Transport
	calls, invokes int
}

func (t *tap) Call(to wor.Member, q *wor.Request, within time.Duration, answer func(*wor.Reply)) {
	t.calls++
	t.Transport.Call(to, q, within, answer)
}

func (t *tap) Invoke(to wor.Member, s wor.Service, payload []byte, within time.Duration, done func([]byte, error)) {
	t.invokes++
	t.Transport.Invoke(to, s, payload, within, done)
}

// counter is a client whose messages are counted.
type counter struct {
	tap    *tap
	serial *env.Serial
	world  env.Env
	space  *space.Space
	client *worm.Client
}

func openCounter(g *wor.Genesis, known int64) (*counter, error) {
	world, serial := osenv.New(), &env.Serial{}
	network := osenv.NewNetwork(osenv.NetworkOptions{WriteBuffer: worm.WriteBuffer})
	world.Network = network
	transport := node.NewTransport(node.TransportOptions{Env: world, Serial: serial, Cluster: g.Cluster, From: world.Random.Uint64()})
	t := &tap{Transport: transport}
	// Nothing is sent twice because the machine was slow.
	s, err := space.Open(space.Options{Env: world, Serial: serial, Transport: t, Genesis: g, KnownMax: known,
		ResendMin: 2 * time.Second})
	if err != nil {
		return nil, err
	}
	client := worm.Over(world, serial, s, func() {
		in(serial, s.Close)
		transport.Close()
		network.Close()
	})
	return &counter{t, serial, world, s, client}, nil
}

// countTimes is how often each operation is counted, after countBefore times that are
// not: in these a client that fetches ahead makes its stock, for which the sequencer
// makes larger segments.
const countTimes, countBefore = 50, 20

// counts counts messages on servers in memory.
func (r *runner) counts() error {
	c, err := startOurs(r.self, "", "")
	if err != nil {
		return err
	}
	defer c.end()
	ctx, cancel := context.WithTimeout(r.ctx, phaseWithin)
	defer cancel()
	// When they serve, no request is turned away and sent again.
	if err := awaken(ctx, c.where.Genesis); err != nil {
		return err
	}
	for _, known := range []int64{-1, 0} {
		k, err := openCounter(c.where.Genesis, known)
		if err != nil {
			return err
		}
		err = r.countRegisters(ctx, k, known < 0)
		if err == nil && known < 0 {
			err = r.countAppends(ctx, k, c.where.Genesis.Partitions[0].Members)
		}
		k.client.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// awaken waits until the servers serve.
func awaken(ctx context.Context, g *wor.Genesis) error {
	c, err := worm.Open(worm.Options{Genesis: g})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Alloc(ctx, 1, wor.Meta{Owner: 1, Size: 1})
	return err
}

// counted counts the messages of f, which is done some times before.
func (r *runner) counted(k *counter, op string, must float64, trips func(calls, invokes float64) float64, f func(i int) error) error {
	var calls, invokes int
	for i := range countBefore + countTimes {
		if i == countBefore {
			in(k.serial, func() { calls, invokes = k.tap.calls, k.tap.invokes })
		}
		if err := f(i); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	in(k.serial, func() { calls, invokes = k.tap.calls-calls, k.tap.invokes-invokes })
	n := count{Op: op, Times: countTimes, Calls: float64(calls) / countTimes, Invokes: float64(invokes) / countTimes, Must: must}
	n.Trips = trips(n.Calls, n.Invokes)
	r.report.Counts = append(r.report.Counts, n)
	return nil
}

// quorumTrips is the number of round trips: a request to a quorum goes to all servers
// at once.
func quorumTrips(calls, invokes float64) float64 { return calls/servers + invokes }

func (r *runner) countRegisters(ctx context.Context, k *counter, bare bool) error {
	seg := wor.Segment(1 << 20)
	if !bare {
		at := wor.Addr{Segment: seg, Offset: 0}
		if _, err := k.client.Read(ctx, at); err != nil {
			return err
		}
		return r.counted(k, "read of a register that the client knows", 0, quorumTrips, func(int) error {
			_, err := knownTo(k.client, at)
			return err
		})
	}
	if _, err := k.client.Alloc(ctx, seg, wor.Meta{Owner: 1, Size: 1 << 16}); err != nil {
		return err
	}
	t, err := k.client.Capture(ctx, wor.Range{Segment: seg, Lo: 0, Hi: 1 << 10})
	if err != nil {
		return err
	}
	value := make([]byte, valueMin)
	if err := r.counted(k, "write of a register of a captured segment", 1, quorumTrips, func(i int) error {
		return k.client.Write(ctx, t, uint32(i), fill(value, 0, i))
	}); err != nil {
		return err
	}
	return r.counted(k, "read of a decided register", 1, quorumTrips, func(i int) error {
		v, err := k.client.Read(ctx, wor.Addr{Segment: seg, Offset: uint32(i)})
		if err == nil {
			err = checkValue(v, len(value), 0, i)
		}
		return err
	})
}

func (r *runner) countAppends(ctx context.Context, k *counter, members []wor.Member) error {
	for _, ahead := range []uint32{0, log.CountMax} {
		op, must := "append to a log", 2.
		if ahead > 0 {
			op, must = "append to a log, positions fetched ahead", 1
		}
		var l *log.Log
		var err error
		in(k.serial, func() {
			l, err = log.Open(log.Options{Space: k.space, Messenger: k.tap, Clock: k.world.Clock, Random: env.Seeded(k.world.Random.Uint64()),
				Serial: k.serial, ID: log.ID(1<<19) + log.ID(ahead), Servers: members, Prefetch: ahead})
		})
		if err != nil {
			return err
		}
		value := make([]byte, valueMin)
		err = r.counted(k, op, must, quorumTrips, func(i int) error {
			ended := make(chan error, 1)
			in(k.serial, func() {
				l.Append(log.Entry{Data: append([]byte(nil), fill(value, 0, i)...)}, 0, func(_ log.Position, err error) { ended <- err })
			})
			select {
			case err := <-ended:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		in(k.serial, l.Close)
		if err != nil {
			return err
		}
	}
	return nil
}
