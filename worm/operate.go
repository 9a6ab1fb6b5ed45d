// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// cluster is what a client made by Open knows besides its Space.
type cluster struct {
	genesis   *wor.Genesis
	space     *space.Space
	transport *node.Transport
	// handles are the open logs and stores, each with a function that replaces
	// its servers. They belong to the Serial.
	handles map[any]func([]wor.Member)
}

// refreshEvery is how often a client looks for replaced servers. It is so often
// that not all servers can be replaced in between.
const refreshEvery = 5 * time.Second

// refreshing looks for later configurations periodically until the client is
// closed. It must be called in the Serial.
func (c *Client) refreshing() {
	select {
	case <-c.closed:
		return
	default:
	}
	if len(c.cluster.handles) > 0 {
		c.cluster.space.Refresh()
	}
	c.clock.After(refreshEvery, c.serial.Waker(c.refreshing))
}

// follow passes the present servers to all open logs and stores. It must be
// called in the Serial.
func (c *Client) follow() {
	members := c.members()
	for _, set := range c.cluster.handles {
		set(members)
	}
}

// members returns the servers of the newest known configurations. It must be
// called in the Serial.
func (c *Client) members() []wor.Member {
	var out []wor.Member
	for p := range c.cluster.genesis.Partitions {
		cfg, _ := c.cluster.space.Config(wor.Partition(p))
		out = Union(out, cfg.Members)
	}
	return out
}

// Description returns the cluster's Genesis with the present configurations. A
// client that starts later needs it to find servers that are still present.
// Description asks the cluster for them.
func (c *Client) Description(ctx context.Context) (*wor.Genesis, error) {
	if c.cluster == nil {
		return nil, ErrNotOpened
	}
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	g := *c.cluster.genesis
	g.Known = nil
	for p := range g.Partitions {
		cfg, err := c.Config(wor.Partition(p))
		if err != nil {
			return nil, err
		}
		if cfg.Epoch > 0 {
			g.Known = append(g.Known, cfg)
		}
	}
	return &g, nil
}

// ErrNotOpened is returned for a client that Open did not make: it has no
// servers.
var ErrNotOpened = errors.New("not a client of a cluster")

// PartitionState is the state of a partition, as its newest configuration and
// its members report it.
type PartitionState struct {
	Config wor.Config
	// Members has the report of each of Config.Members.
	Members []MemberState
}

// Serving returns the number of members that serve the newest epoch.
func (p *PartitionState) Serving() int {
	n := 0
	for i := range p.Members {
		if m := &p.Members[i]; m.Answers && m.Standing == wor.StatusOK && m.Epoch == p.Config.Epoch {
			n++
		}
	}
	return n
}

// MemberState is a server's report about itself in one partition.
type MemberState struct {
	wor.Member
	// Answers reports whether the server answered within a second. If not, the
	// other fields are not set.
	Answers  bool
	Standing wor.Status
	Epoch    wor.Epoch
	// Full is the share of its memory for registers that the server uses, in
	// percent. From 75 percent on the server refuses writes.
	Full int
	// Generation is the number of times that the server was started. Position
	// is the number of records that it has made durable.
	Generation, Position uint64
	// Trouble is the reason why there is no connection to the server, or "".
	Trouble string
}

// askWithin bounds the time that a server has to report its state.
const askWithin = time.Second

// Inspect asks all servers of all partitions for their state. If it cannot
// learn the newest configuration of a partition before the context ends, the
// result has the configuration that the client knows, and Inspect also returns
// an error.
func (c *Client) Inspect(ctx context.Context) ([]PartitionState, error) {
	if c.cluster == nil {
		return nil, ErrNotOpened
	}
	var trouble error
	if err := c.refresh(ctx); err != nil {
		trouble = err
	}
	out := make([]PartitionState, len(c.cluster.genesis.Partitions))
	for p := range out {
		s, err := c.inspect(wor.Partition(p))
		if err != nil {
			return nil, err
		}
		out[p] = *s
	}
	return out, trouble
}

// Probe asks one server for its state in a partition. The server need not be a
// member of it.
func (c *Client) Probe(m wor.Member, p wor.Partition) (MemberState, error) {
	cfg, err := c.Config(p)
	if err != nil {
		return MemberState{}, err
	}
	s, err := c.ask(cfg, []wor.Member{m})
	if err != nil {
		return MemberState{}, err
	}
	return s[0], nil
}

// inspect asks the members of one partition.
func (c *Client) inspect(p wor.Partition) (*PartitionState, error) {
	cfg, err := c.Config(p)
	if err != nil {
		return nil, err
	}
	members, err := c.ask(cfg, cfg.Members)
	return &PartitionState{cfg, members}, err
}

// ask asks servers about a partition, all at once.
func (c *Client) ask(cfg wor.Config, members []wor.Member) ([]MemberState, error) {
	// The context does not extend askWithin: the state of a cluster without a
	// majority must also be visible.
	return call(context.Background(), c, func(_ time.Duration, done func([]MemberState, error)) {
		s := make([]MemberState, len(members))
		left := len(members)
		for i, m := range members {
			s[i].Member = m
			q := &wor.Request{Kind: wor.KindStatus, Partition: cfg.Partition, Epoch: cfg.Epoch}
			c.cluster.transport.Call(m, q, askWithin, func(r *wor.Reply) {
				if r != nil {
					s[i].Answers, s[i].Standing, s[i].Epoch = true, r.Status, r.Epoch
					s[i].Full = int(min(r.Cursor, 1000))
				}
				if left--; left == 0 {
					c.lookAt(s)
					done(s, nil)
				}
			})
		}
	})
}

// lookAt adds the state of the connections.
func (c *Client) lookAt(s []MemberState) {
	for _, peer := range c.cluster.transport.Peers() {
		for i := range s {
			if m := &s[i]; m.ID == peer.ID && m.Addr == peer.Addr {
				m.Generation, m.Position = peer.Generation, peer.Position
				if !peer.Connected || !m.Answers {
					m.Trouble = peer.Trouble
				}
			}
		}
	}
}

// refresh learns the newest configuration of each partition. It asks for a
// segment whose home is there: the servers refuse the request if the epoch is
// over.
func (c *Client) refresh(ctx context.Context) error {
	g := c.cluster.genesis
	for p := range g.Partitions {
		s := wor.Segment(0)
		for int(g.Home(s)) != p {
			s++
		}
		_, err := c.Stat(ctx, s)
		if err != nil && !errors.Is(err, wor.ErrUnallocated) && !errors.Is(err, wor.ErrTrimmed) {
			return fmt.Errorf("partition %d: %w", p, err)
		}
	}
	return nil
}

// Config is the newest configuration of a partition that the client has
// learned.
func (c *Client) Config(p wor.Partition) (wor.Config, error) {
	if c.cluster == nil || int(p) >= len(c.cluster.genesis.Partitions) {
		return wor.Config{}, ErrNotOpened
	}
	return call(context.Background(), c, func(_ time.Duration, done func(wor.Config, error)) {
		cfg, _ := c.cluster.space.Config(p)
		done(*cfg, nil)
	})
}

// Members are the servers of the newest configurations, each once, in the order
// of the partitions. It asks the cluster for them.
func (c *Client) Members(ctx context.Context) ([]wor.Member, error) {
	if c.cluster == nil {
		return nil, ErrNotOpened
	}
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	return call(context.Background(), c, func(_ time.Duration, done func([]wor.Member, error)) { done(c.members(), nil) })
}

// Union appends those members that the list does not have yet.
func Union(all, more []wor.Member) []wor.Member {
	for _, m := range more {
		if !slices.ContainsFunc(all, func(o wor.Member) bool { return o.ID == m.ID }) {
			all = append(all, m)
		}
	}
	return all
}

// ErrRefused is wrapped by the error of a change that was refused before it
// began, for instance because the new server of a Replace does not answer. The
// error gives the reason.
var ErrRefused = space.ErrRefused

// Progress is a completed step of a reconfiguration.
type Progress = space.Progress

// Reconfigure makes members store a partition from its next epoch on, and
// returns that configuration. It calls progress, which may be nil, in the
// Serial.
func (c *Client) Reconfigure(ctx context.Context, p wor.Partition, members []wor.Member, progress func(Progress)) (*wor.Config, error) {
	if c.cluster == nil {
		return nil, ErrNotOpened
	}
	cfg, err := call(ctx, c, func(within time.Duration, done func(*wor.Config, error)) {
		c.cluster.space.Reconfigure(p, members, within, progress, done)
	})
	return cfg, changed(wor.Addr{Segment: wor.ConfigSegment(p)}, err)
}

// Replace replaces one server by another in all partitions. It checks first,
// and returns an ErrRefused if a check fails. When called again, it continues a
// replacement that was begun.
func (c *Client) Replace(ctx context.Context, dead wor.ServerID, with wor.Member, progress func(Progress)) error {
	if c.cluster == nil {
		return ErrNotOpened
	}
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.cluster.space.Replace(dead, with, within, progress, bare(done))
	})
	return changed(wor.Addr{Segment: wor.ConfigSegment(0)}, err)
}

// UnsafeRecover makes members store a partition that has permanently lost a
// majority. Decided values may be missing or may change. It refuses as long as
// a majority answers. Partition 0 continues when its servers are started with a
// description that has the configuration among its Known.
func (c *Client) UnsafeRecover(ctx context.Context, p wor.Partition, members []wor.Member, progress func(Progress)) (*wor.Config, error) {
	if c.cluster == nil {
		return nil, ErrNotOpened
	}
	cfg, err := call(ctx, c, func(within time.Duration, done func(*wor.Config, error)) {
		c.cluster.space.UnsafeRecover(p, members, within, progress, done)
	})
	return cfg, changed(wor.Addr{Segment: wor.ConfigSegment(p)}, err)
}

// Relocate moves a segment, all of whose registers must be decided, to another
// partition.
func (c *Client) Relocate(ctx context.Context, s wor.Segment, to wor.Partition) error {
	if c.cluster == nil {
		return ErrNotOpened
	}
	_, err := call(ctx, c, func(within time.Duration, done func(nothing, error)) {
		c.cluster.space.Relocate(s, to, within, bare(done))
	})
	return changed(wor.Addr{Segment: s, Offset: wor.MetaOffset}, err)
}
