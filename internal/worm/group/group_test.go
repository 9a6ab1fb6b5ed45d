// SPDX-License-Identifier: Apache-2.0

package group

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// world is the servers of one partition, and the records that they logged.
type world struct {
	genesis *wor.Genesis
	groups  map[wor.ServerID]*Group
	logs    map[wor.ServerID][][]byte
}

func genesis(partitions int, members ...wor.ServerID) *wor.Genesis {
	g := &wor.Genesis{Cluster: 1}
	for p := range partitions {
		g.Partitions = append(g.Partitions, *config(wor.Partition(p), 0, 0, members...))
	}
	return g
}

func config(p wor.Partition, e wor.Epoch, tag uint64, members ...wor.ServerID) *wor.Config {
	c := &wor.Config{Partition: p, Epoch: e, Tag: tag}
	for _, id := range members {
		c.Members = append(c.Members, wor.Member{ID: id, Name: "s" + strconv.Itoa(int(id))})
	}
	return c
}

func newWorld(g *wor.Genesis, p wor.Partition, servers ...wor.ServerID) *world {
	w := &world{genesis: g, groups: map[wor.ServerID]*Group{}, logs: map[wor.ServerID][][]byte{}}
	for _, id := range servers {
		w.groups[id] = New(id, g, p)
	}
	return w
}

// ask calls Handle and keeps the records.
func (w *world) ask(to wor.ServerID, q *wor.Request) *wor.Reply {
	var r wor.Reply
	var log wor.Log
	own := *q
	w.groups[to].Handle(&own, &r, &log)
	for i := range log.Len() {
		w.logs[to] = append(w.logs[to], append([]byte(nil), log.Record(i)...))
	}
	return &r
}

// restart rebuilds the server from its log.
func (w *world) restart(t testing.TB, id wor.ServerID) {
	t.Helper()
	old := w.groups[id]
	g := New(id, w.genesis, old.partition)
	g.Limit(old.maxBytes)
	for i, record := range w.logs[id] {
		if err := g.Redo(record); err != nil {
			t.Fatalf("server %d, record %d: %v", id, i, err)
		}
	}
	w.groups[id] = g
}

// checkpoint replaces the log by the records of Save.
func (w *world) checkpoint(id wor.ServerID) {
	w.logs[id] = nil
	w.groups[id].Save(func(record []byte) bool {
		w.logs[id] = append(w.logs[id], append([]byte(nil), record...))
		return true
	})
}

var kinds = map[string]wor.Kind{
	"capture": wor.KindCapture, "write": wor.KindWrite, "read": wor.KindRead, "trim": wor.KindTrim,
	"listen": wor.KindListen, "unlisten": wor.KindUnlisten, "seal": wor.KindSeal, "fetch": wor.KindFetch,
	"stage": wor.KindStage, "activate": wor.KindActivate, "status": wor.KindStatus, "nonsense": 99,
}

var protocols = map[string]wor.Protocol{"paxos": wor.Paxos, "chain": wor.Chain, "fast": wor.Fast, "other": 3}

// TestDialogues shows what a server answers to each kind of request, epoch by
// epoch.
func TestDialogues(t *testing.T) {
	datadriven.Walk(t, "testdata/dialogues", func(t *testing.T, path string) {
		s := &script{states: map[string][]byte{}, digests: map[string]uint64{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type script struct {
	w       *world
	p       wor.Partition
	states  map[string][]byte
	digests map[string]uint64
}

func ids(d *datadriven.TestData, name string) []wor.ServerID {
	var out []wor.ServerID
	for _, a := range d.CmdArgs {
		if a.Key == name {
			for _, v := range a.Vals {
				n, _ := strconv.Atoi(v)
				out = append(out, wor.ServerID(n))
			}
		}
	}
	return out
}

func number(t *testing.T, d *datadriven.TestData, name string) uint64 {
	if !d.HasArg(name) {
		return 0
	}
	var text string
	d.ScanArgs(t, name, &text)
	switch text {
	case "meta":
		return uint64(wor.MetaOffset)
	case "trim":
		return uint64(wor.TrimOffset)
	}
	if rest, ok := strings.CutPrefix(text, "config"); ok {
		n, _ := strconv.Atoi(rest)
		return uint64(wor.ConfigSegment(wor.Partition(n)))
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		d.Fatalf(t, "%s: %v", name, err)
	}
	return n
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.states[""] = nil
	switch d.Cmd {
	case "genesis":
		s.p = wor.Partition(number(t, d, "partition"))
		s.w = newWorld(genesis(2, ids(d, "members")...), s.p, ids(d, "servers")...)
		return "ok\n"
	case "restart":
		for _, id := range ids(d, "servers") {
			s.w.restart(t, id)
		}
		return "ok\n"
	case "checkpoint":
		for _, id := range ids(d, "servers") {
			s.w.checkpoint(id)
			s.w.restart(t, id)
		}
		return "ok\n"
	case "limit":
		for _, id := range ids(d, "servers") {
			s.w.groups[id].Limit(int64(number(t, d, "bytes")))
		}
		return "ok\n"
	case "merge":
		return s.merge(t, d)
	}
	kind, ok := kinds[d.Cmd]
	if !ok {
		d.Fatalf(t, "no such command")
	}
	q := s.request(t, d, kind)
	var out strings.Builder
	for _, id := range ids(d, "servers") {
		r := s.w.ask(id, q)
		fmt.Fprintf(&out, "%d: %s\n", id, s.describe(q, r))
	}
	return out.String()
}

func (s *script) request(t *testing.T, d *datadriven.TestData, kind wor.Kind) *wor.Request {
	q := &wor.Request{Kind: kind, Partition: s.p, Epoch: wor.Epoch(number(t, d, "epoch"))}
	if d.HasArg("partition") {
		q.Partition = wor.Partition(number(t, d, "partition"))
	}
	q.Range.Segment = wor.Segment(number(t, d, "segment"))
	q.Range.Lo = uint32(number(t, d, "lo"))
	q.Range.Hi = q.Range.Lo + 1
	if d.HasArg("hi") {
		q.Range.Hi = uint32(number(t, d, "hi"))
	}
	q.Tag, q.Cursor = number(t, d, "tag"), number(t, d, "cursor")
	if q.Ballot.Round = number(t, d, "ballot"); q.Ballot.Round != 0 {
		q.Ballot.Nonce = 0xc
	}
	if d.HasArg("protocol") {
		var p string
		d.ScanArgs(t, "protocol", &p)
		q.Protocol = protocols[p]
	}
	q.Value = []byte(strings.TrimSpace(d.Input))
	var state string
	d.MaybeScanArgs(t, "state", &state)
	switch kind {
	case wor.KindWrite:
		if d.HasArg("members") {
			c := config(wor.Partition(q.Range.Segment&^wor.ReservedSegment), wor.Epoch(q.Range.Lo), q.Tag, ids(d, "members")...)
			q.Value, _ = c.MarshalBinary()
		}
	case wor.KindStage:
		if q.Value = s.states[state]; !d.HasArg("more") {
			q.Flags, q.Digest = wor.FlagLast, s.digests[state]
		}
		if d.HasArg("wrong") {
			q.Digest++
		}
	case wor.KindActivate:
		c := config(q.Partition, q.Epoch, q.Tag, ids(d, "members")...)
		c.Digest = s.digests[state]
		q.Value, _ = c.MarshalBinary()
	}
	return q
}

// merge merges the states of sealed servers and keeps the result under a name.
func (s *script) merge(t *testing.T, d *datadriven.TestData) string {
	servers := ids(d, "servers")
	m := NewMerger(int(number(t, d, "n")), len(servers), nil)
	e := wor.Epoch(number(t, d, "epoch"))
	var out strings.Builder
	for {
		for i, id := range servers {
			if cursor, ok := m.Wants(i); ok {
				r := s.w.ask(id, &wor.Request{Kind: wor.KindFetch, Partition: s.p, Epoch: e, Cursor: cursor})
				if r.Status != wor.StatusOK {
					d.Fatalf(t, "fetch from %d: %v", id, r.Status)
				}
				if err := m.Put(i, cursor, r); err != nil {
					d.Fatalf(t, "fetch from %d: %v", id, err)
				}
			}
		}
		piece, last, ok, err := m.Next()
		if err != nil {
			return err.Error() + "\n"
		}
		if ok && last {
			var name string
			d.ScanArgs(t, "state", &name)
			s.states[name], s.digests[name] = piece, m.Digest()
			list(&out, piece)
			fmt.Fprintf(&out, "%d conflicts, stage on %d of 3\n", m.Conflicts(), m.Stages(3))
			return out.String()
		}
	}
}

func list(out *strings.Builder, piece []byte) {
	for len(piece) > 0 {
		s, rest, err := NextState(piece)
		if err != nil {
			fmt.Fprintf(out, "%v\n", err)
			return
		}
		fmt.Fprintf(out, "%v %v", s.Protocol, s.Addr)
		if s.Trimmed {
			fmt.Fprintf(out, " trimmed\n")
		} else {
			fmt.Fprintf(out, " %s at %v\n", show(s.Value), s.Accepted)
		}
		piece = rest
	}
}

func (s *script) describe(q *wor.Request, r *wor.Reply) string {
	out := r.Status.String()
	if r.Epoch != q.Epoch {
		out += fmt.Sprintf(" epoch %d", r.Epoch)
	}
	if r.Status == wor.StatusLimit {
		return out + ": " + string(r.Value)
	}
	for _, run := range r.Runs {
		out += fmt.Sprintf(", %dx %v", run.Count, run.Status)
		if !run.Promised.IsZero() {
			out += fmt.Sprintf(" promised %v", run.Promised)
		}
		if run.Written && run.Value != nil {
			out += fmt.Sprintf(" has %s at %v", show(run.Value), run.Accepted)
		}
	}
	if text := show(r.Value); strings.HasPrefix(text, "configuration") {
		out += ", " + text
	} else if q.Kind == wor.KindFetch {
		var b strings.Builder
		list(&b, r.Value)
		out += "\n" + strings.TrimSuffix(b.String(), "\n")
	}
	if q.Kind == wor.KindStage || r.Cursor != 0 {
		out += fmt.Sprintf(", cursor %d", r.Cursor)
	}
	return out
}

// show formats a value, or the configuration that it encodes.
func show(value []byte) string {
	var c wor.Config
	if c.UnmarshalBinary(value) != nil {
		return strconv.Quote(string(value))
	}
	text := fmt.Sprintf("configuration %d of", c.Epoch)
	for _, m := range c.Members {
		text += fmt.Sprint(" ", uint64(m.ID))
	}
	return text
}
