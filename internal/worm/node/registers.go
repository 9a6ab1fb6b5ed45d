// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// registers are this server's shares of the partitions. Server.mu guards them.
type registers struct {
	s     *Server
	parts []*part
	bytes int64 // of all
	// The request being performed, its reply, and the records that it makes: one
	// at a time, so that their memory is used again.
	query wor.Request
	reply wor.Reply
	log   wor.Log
}

// part is this server's share of a partition.
type part struct {
	number wor.Partition
	group  *group.Group
	bytes  int64
	// mute: not enough peers have confirmed yet that the disk is up to date. That
	// is asked anew in each epoch: judged is the last one, and since is when a bare
	// majority had confirmed it there, 0 if it has not.
	mute   bool
	judged wor.Epoch
	since  env.Instant
	// claimed is the highest epoch that any client has claimed has begun.
	claimed wor.Epoch
	// kept is a decided configuration whose epoch has not begun, because the disk
	// was full.
	kept *wor.Config
	// seeking reports that a look for claimed is queued.
	seeking bool
	sealed  env.Instant // since when it was seen to be, 0 if it is not
}

// add makes the partitions of the genesis.
func (g *registers) add() {
	o := &g.s.opt
	for i := range o.Genesis.Partitions {
		g.parts = append(g.parts, &part{number: wor.Partition(i), group: group.New(g.s.id, o.Genesis, wor.Partition(i)),
			mute: !o.Alone})
	}
}

func (g *registers) all() []*part               { return g.parts }
func (g *registers) size() int64                { return g.bytes }
func (g *registers) count() int                 { return len(g.parts) }
func (g *registers) part(n wor.Partition) *part { return g.parts[n] }

// next returns the memory of the request being performed and of its reply.
func (g *registers) next() (*wor.Request, *wor.Reply) { return &g.query, &g.reply }

// perform performs a request of a partition, and passes its records on.
func (g *registers) perform(p *part, q *wor.Request, r *wor.Reply) {
	p.group.Limit(max(g.s.opt.MaxBytes-g.bytes+p.bytes, 1))
	p.group.Handle(q, r, &g.log)
	g.record(p.number)
}

// record takes over the records of a request.
func (g *registers) record(n wor.Partition) {
	s := g.s
	if g.log.Len() == 0 {
		return
	}
	for i := range g.log.Len() {
		s.commits.stage(recordGroup, n, g.log.Record(i))
	}
	g.log.Reset()
	p := g.parts[n]
	b := p.group.Bytes()
	g.bytes += b - p.bytes
	p.bytes = b
}

// weigh counts the bytes of all partitions, after their state was rebuilt.
func (g *registers) weigh() {
	for _, p := range g.parts {
		p.bytes = p.group.Bytes()
		g.bytes += p.bytes
	}
}

// isPeer reports whether a server is a member of a partition, as far as is
// known here.
func (g *registers) isPeer(id wor.ServerID) bool {
	return slices.ContainsFunc(g.parts, func(p *part) bool { return p.group.Config().Index(id) >= 0 })
}
