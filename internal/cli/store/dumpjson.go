// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store/repair"
)

// jsonText is bytes as a JSON string, escaped as in a Go string.
func jsonText(b []byte) string {
	text, err := json.Marshal(repair.EscapeKey(b))
	if err != nil {
		return `""` // a string can always be written
	}
	return string(text)
}

// dumpDocument is the result of store dump as JSON. Keys are escaped as in a Go
// string.
type dumpDocument struct {
	Schema   string            `json:"schema"`
	Dir      string            `json:"dir"`
	Files    []dumpFile        `json:"files"`
	Slots    []dumpSlot        `json:"slots"`
	Used     *int              `json:"used"` // index of the slot; null: no table can be read
	Nodes    []dumpNode        `json:"nodes"`
	Branches []dumpedRun       `json:"branches"`
	Journal  []dumpSegment     `json:"journal"`
	Witness  uint64            `json:"witness,omitempty"` // everything was durable up to that change
	History  []dumpHistoryFile `json:"history,omitempty"`
	Damage   []string          `json:"damage"`
}

type dumpFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

type dumpSlot struct {
	Error   string `json:"error,omitempty"`
	Blank   bool   `json:"blank"`
	UUID    string `json:"uuid,omitempty"`
	Number  uint64 `json:"number,omitempty"`
	Cut     uint64 `json:"cut,omitempty"`
	Epoch   uint64 `json:"epoch,omitempty"`
	Segment uint64 `json:"segment,omitempty"`
	Pages   uint32 `json:"pages,omitempty"`
	Merger  string `json:"merger,omitempty"`
	Clean   bool   `json:"clean"`
	Chunks  int    `json:"chunks"`
}

type dumpNode struct {
	ID     uint64      `json:"id"`
	Level  int         `json:"level"`
	Pivots []dumpPivot `json:"pivots"`
}

type dumpPivot struct {
	Lo    string    `json:"lo"`
	Child uint64    `json:"child,omitempty"`
	Refs  []dumpRef `json:"refs"`
}

type dumpRef struct {
	Branch uint64 `json:"branch"`
	Bytes  int64  `json:"bytes"`
	Base   bool   `json:"base"`
}

type dumpedRun struct {
	ID           uint64 `json:"id"`
	Epoch        uint64 `json:"epoch"`
	Lo           string `json:"lo"`
	Hi           string `json:"hi"`
	MinSeq       uint64 `json:"minSeq"`
	MaxSeq       uint64 `json:"maxSeq"`
	Messages     uint64 `json:"messages"`
	Keys         uint64 `json:"keys"`
	Puts         uint64 `json:"puts"`
	Deletes      uint64 `json:"deletes"`
	Merges       uint64 `json:"merges"`
	RangeDeletes uint64 `json:"rangeDeletes"`
	Blocks       uint64 `json:"blocks"`
	Bytes        uint64 `json:"bytes"`
	Runs         []span `json:"runs"`
	Values       int    `json:"values"`
	IndexAt      int64  `json:"indexAt"`
	IndexBytes   uint32 `json:"indexBytes"`
}

// span is a piece of the data file, in bytes.
type span struct {
	At    int64 `json:"at"`
	Bytes int64 `json:"bytes"`
}

type dumpHistoryFile struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Foreign bool   `json:"foreign,omitempty"`
	Stale   bool   `json:"stale,omitempty"`
}

type dumpSegment struct {
	File    string `json:"file"`
	Size    int64  `json:"size"`
	Flaw    string `json:"flaw,omitempty"`
	Segment uint64 `json:"segment,omitempty"`
	First   uint64 `json:"first,omitempty"`
	Last    uint64 `json:"last,omitempty"`
	Frames  int    `json:"frames"`
	Bytes   int64  `json:"bytes"`
	Stop    string `json:"stop,omitempty"`
}

func dumpJSON(dir string, a *inspect.Anatomy, w io.Writer) error {
	d := dumpDocument{Schema: "ashlar-store-dump/1", Dir: dir, Files: []dumpFile{}, Nodes: []dumpNode{}, Branches: []dumpedRun{},
		Journal: []dumpSegment{}, Damage: []string{}}
	for _, f := range a.Files {
		d.Files = append(d.Files, dumpFile{f.Name, f.Bytes})
	}
	for _, s := range a.Slots {
		if s.Err != nil {
			d.Slots = append(d.Slots, dumpSlot{Error: s.Err.Error(), Blank: s.Blank})
			continue
		}
		u := s.Super
		d.Slots = append(d.Slots, dumpSlot{UUID: fmt.Sprintf("%x", u.UUID), Number: u.Seq, Cut: u.Cut, Epoch: u.Epoch,
			Segment: u.Segment, Pages: u.Pages, Merger: u.Merger, Clean: u.Clean, Chunks: len(u.Chunks)})
	}
	if a.Table != nil {
		d.Used = &a.Used
	}
	if a.Root != nil {
		d.nodes(a.Root)
	}
	for _, m := range a.Branches {
		runs := []span{}
		for _, r := range m.Runs {
			runs = append(runs, span{r.Addr(), r.Bytes()})
		}
		d.Branches = append(d.Branches, dumpedRun{ID: m.ID, Epoch: m.Epoch, Lo: repair.EscapeKey(m.Lo), Hi: repair.EscapeKey(m.Hi),
			MinSeq: uint64(m.MinSeq), MaxSeq: uint64(m.MaxSeq), Messages: m.Records, Keys: m.Keys, Puts: m.Puts, Deletes: m.Deletes,
			Merges: m.Merges, RangeDeletes: m.RangeDeletes, Blocks: m.Blocks, Bytes: m.Bytes, Runs: runs, Values: len(m.Blobs),
			IndexAt: m.Index.Addr, IndexBytes: m.Index.Len})
	}
	for _, s := range a.Journal {
		g := dumpSegment{File: s.Name, Size: s.Size}
		if s.Flaw.OK() {
			g.Segment, g.First, g.Last, g.Frames, g.Bytes, g.Stop = s.Info.Number, uint64(s.Info.First), uint64(s.Last), s.Frames, s.Bytes, s.Stop
		} else {
			g.Flaw = "want " + s.Flaw.Want() + ", found " + s.Flaw.Found()
		}
		d.Journal = append(d.Journal, g)
	}
	d.Witness = uint64(a.Durable)
	for _, h := range a.History {
		d.History = append(d.History, dumpHistoryFile{h.Name, h.Bytes, uint64(h.First), uint64(h.Last), h.Foreign, h.Stale})
	}
	for _, e := range a.Damage {
		d.Damage = append(d.Damage, e.Error())
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// nodes adds a node and those below it.
func (d *dumpDocument) nodes(n *trunk.Node) {
	out := dumpNode{ID: n.ID, Level: n.Level}
	for i := range n.Pivots {
		p := &n.Pivots[i]
		pivot := dumpPivot{Lo: repair.EscapeKey(p.Lo), Refs: []dumpRef{}}
		if p.Child != nil {
			pivot.Child = p.Child.ID
		}
		for _, r := range p.Refs {
			pivot.Refs = append(pivot.Refs, dumpRef{r.Branch.Meta.ID, r.Bytes, r.Base})
		}
		out.Pivots = append(out.Pivots, pivot)
	}
	d.Nodes = append(d.Nodes, out)
	for i := range n.Pivots {
		if c := n.Pivots[i].Child; c != nil {
			d.nodes(c)
		}
	}
}
