// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	_ "embed" // the page
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/page"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
)

const statsHelp = `Stats opens a store for reading and reports its size, how much of its space is in use,
the shape of its tree, and how much memory it needs. No other process may have the store
open. Write amplification is only known while a store is in use: a program reads it from
DB.Metrics, and ashlar store bench prints it.

With --html it draws the tree: the partitions as bars, from their base upwards,
and above them the changes that have not moved down yet.

Exit codes: 0 shown; 150 the store is damaged; 130 interrupted; 1 files; 2 usage.`

func newStatsCommand(t *console.Terminal) *cobra.Command {
	var o shared
	var page string
	cmd := &cobra.Command{
		Use:   "stats DIR",
		Short: "Report the size of a store and the shape of its tree",
		Long:  statsHelp,
		Example: `  ashlar store stats /var/lib/app/db
  ashlar store stats --html tree.html db
  ashlar store stats --json db | jq .metrics.FreeBytes`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStats(cmd.Context(), t, o, args[0], page)
		},
	}
	o.flags(cmd, "ashlar-store-stats/1")
	cmd.Flags().StringVar(&page, "html", "", "write a page with a drawing of the tree to `FILE`")
	return cmd
}

// stats is the result of store stats as JSON. Sizes are in bytes.
type stats struct {
	Schema     string        `json:"schema"`
	Dir        string        `json:"dir"`
	Store      string        `json:"store"`
	LastChange uint64        `json:"lastChange"` // in the tree
	Merger     string        `json:"merger"`
	UsedBytes  int64         `json:"usedBytes"`
	Messages   int64         `json:"messages"`
	BaseBytes  int64         `json:"baseBytes"`
	NewerBytes int64         `json:"newerBytes"`
	ValueRuns  int64         `json:"values"`
	Journal    int64         `json:"journalBytes"`
	Levels     []levelStats  `json:"levels"`
	Metrics    store.Metrics `json:"metrics"`
}

type levelStats struct {
	Level  int   `json:"level"`
	Nodes  int   `json:"nodes"`
	Pivots int   `json:"pivots"`
	Refs   int   `json:"refs"`
	Bytes  int64 `json:"bytes"`
}

func runStats(ctx context.Context, t *console.Terminal, o shared, dir, page string) error {
	s, err := openDir(dir, true)
	if err != nil {
		return err
	}
	defer s.close()
	var a inspect.Anatomy
	var m store.Metrics
	start := time.Now()
	err = work(ctx, t, o.quiet, func() string { return s.disk.megabytes(start) }, func() error {
		var err error
		if a, err = inspect.Look(s.disk, s.name); err != nil {
			return err
		}
		db, err := s.read(o.options())
		if err != nil {
			return err
		}
		m = db.Metrics()
		return db.Close()
	})
	var stop *exit.Error
	switch {
	case errors.As(err, &stop):
		return err
	case errors.Is(err, store.ErrCorrupt):
		return exit.With(exit.Spec, err)
	case err != nil:
		return exit.Failed(err)
	}
	stats := statsOf(dir, &a, m)
	if page != "" {
		if err := writeTreePage(page, &stats, a.Root); err != nil {
			return exit.Failed(err)
		}
	}
	if o.json {
		return t.JSON(stats)
	}
	return exit.Failed(stats.print(t.Out))
}

func statsOf(dir string, a *inspect.Anatomy, m store.Metrics) stats {
	super := a.Slots[a.Used].Super
	st := stats{Schema: "ashlar-store-stats/1", Dir: dir, Store: fmt.Sprintf("%x", super.UUID), LastChange: super.Cut, Merger: super.Merger,
		UsedBytes: m.FileBytes - m.FreeBytes - m.RetiredBytes, Metrics: m, Levels: []levelStats{}}
	for _, b := range a.Branches {
		st.Messages += int64(b.Records)
		st.ValueRuns += int64(len(b.Blobs))
	}
	for _, s := range a.Journal {
		st.Journal += s.Size
	}
	if a.Root == nil {
		return st
	}
	st.Levels = make([]levelStats, a.Root.Level+1)
	nodes := map[uint64]bool{}
	a.Root.Walk(func(n *trunk.Node, i int, _, _ []byte) {
		l := &st.Levels[n.Level]
		l.Level = n.Level
		if !nodes[n.ID] {
			nodes[n.ID] = true
			l.Nodes++
		}
		l.Pivots++
		for _, r := range n.Pivots[i].Refs {
			l.Refs++
			l.Bytes += r.Bytes
			if r.Base {
				st.BaseBytes += r.Bytes
			} else {
				st.NewerBytes += r.Bytes
			}
		}
	})
	return st
}

func (s *stats) print(w io.Writer) error {
	m := &s.Metrics
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("store", "%s", s.Store)
	line("changes", "up to number %s in the tree", console.Count(int64(s.LastChange)))
	line("data file", "%s bytes: %s in use, %s free, %s retired", console.Count(m.FileBytes), console.Count(s.UsedBytes), console.Count(m.FreeBytes), console.Count(m.RetiredBytes))
	line("journal", "%s bytes", console.Count(s.Journal))
	line("branches", "%d with %s messages; %s large values", m.Branches, console.Count(s.Messages), console.Count(s.ValueRuns))
	line("tree", "%s bytes in bases, %s bytes of newer changes; a read asks %d branches at most", console.Count(s.BaseBytes), console.Count(s.NewerBytes), m.Runs)
	for i := len(s.Levels) - 1; i >= 0; i-- {
		l := s.Levels[i]
		line(fmt.Sprintf("  level %d", l.Level), "%d nodes, %d pivots, %d references, %s bytes", l.Nodes, l.Pivots, l.Refs, console.Count(l.Bytes))
	}
	line("due", "%s bytes to merge", console.Count(m.Debt))
	_, err := fmt.Fprintf(w, "%-10s %s bytes for indexes and filters\n", "memory", console.Count(m.IndexBytes))
	return err
}

//go:embed tree.html
var treeText string

// Sizes of the picture, in its own units.
const (
	barWidth  = 10
	barHeight = 240
	bandPitch = 16
	picture   = 960 // width at least
)

// treeRect is a reference in the picture.
type treeRect struct {
	X, Y, W, H float64
	Class      string
	Title      string
}

// treePage is what the page shows.
type treePage struct {
	Stats         *stats
	Width, Height float64
	Base          float64 // where the bars stand
	Rects         []treeRect
	Partitions    int
}

// leafCount returns the number of partitions below a node.
func leafCount(n *trunk.Node) int {
	if n.Level == 0 {
		return len(n.Pivots)
	}
	sum := 0
	for i := range n.Pivots {
		sum += leafCount(n.Pivots[i].Child)
	}
	return sum
}

// draw places the references of a tree.
func (p *treePage) draw(root *trunk.Node) {
	if root == nil {
		p.Width, p.Height = picture, bandPitch
		return
	}
	p.Partitions = leafCount(root)
	unit := max(barWidth, picture/float64(p.Partitions))
	p.Width = unit * float64(p.Partitions)
	var most int64 = 1
	bands := make([]int, root.Level+1) // references in one pivot of the level at most
	root.Walk(func(n *trunk.Node, i int, _, _ []byte) {
		var bytes int64
		for _, r := range n.Pivots[i].Refs {
			bytes += r.Bytes
		}
		if n.Level == 0 {
			most = max(most, bytes)
		} else {
			bands[n.Level] = max(bands[n.Level], len(n.Pivots[i].Refs))
		}
	})
	top := make([]float64, root.Level+1) // where the bands of a level begin
	y := 0.0
	for level := root.Level; level > 0; level-- {
		top[level] = y
		y += float64(bands[level]+1) * bandPitch
	}
	p.Base = y + barHeight
	p.Height = p.Base + 2
	p.node(root, nil, 0, unit, top, most)
}

// node places a node's references, starting at partition number at, and returns
// how many partitions the node covers.
func (p *treePage) node(n *trunk.Node, end []byte, at int, unit float64, top []float64, most int64) int {
	from := at
	for i := range n.Pivots {
		v := &n.Pivots[i]
		hi := end
		if i+1 < len(n.Pivots) {
			hi = n.Pivots[i+1].Lo
		}
		wide := 1
		if v.Child != nil {
			wide = p.node(v.Child, hi, at, unit, top, most)
		}
		y := p.Base
		for k := len(v.Refs) - 1; k >= 0; k-- { // the oldest first
			r := v.Refs[k]
			class := "newer"
			if r.Base {
				class = "base"
			}
			rect := treeRect{X: float64(at)*unit + 0.5, W: float64(wide)*unit - 1, Class: class,
				Title: fmt.Sprintf("branch %d: %s bytes of keys %q to %s, level %d", r.Branch.Meta.ID, console.Count(r.Bytes), v.Lo, upTo(hi), n.Level)}
			if n.Level == 0 {
				rect.H = max(float64(r.Bytes)/float64(most)*barHeight, 0.5)
				y -= rect.H
				rect.Y = y
			} else {
				rect.Class = "above"
				rect.H, rect.Y = bandPitch-2, top[n.Level]+float64(k)*bandPitch
			}
			p.Rects = append(p.Rects, rect)
		}
		at += wide
	}
	return at - from
}

// writeTreePage draws the tree to a file.
func writeTreePage(name string, s *stats, root *trunk.Node) error {
	p := treePage{Stats: s}
	p.draw(root)
	var rects, levels strings.Builder
	for _, r := range p.Rects {
		fmt.Fprintf(&rects, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"><title>%s</title></rect>\n", r.Class, r.X, r.Y, r.W, r.H, page.Text(r.Title))
	}
	for _, l := range s.Levels {
		levels.WriteString("<tr>")
		for _, n := range []string{strconv.Itoa(l.Level), strconv.Itoa(l.Nodes), strconv.Itoa(l.Pivots), strconv.Itoa(l.Refs), console.Count(l.Bytes)} {
			fmt.Fprintf(&levels, "<td class=\"n\">%s</td>", n)
		}
		levels.WriteString("</tr>\n")
	}
	count := func(n int64) page.HTML { return page.HTML(console.Count(n)) }
	return page.Write(name, treeText, map[string]page.HTML{
		"Dir": page.Text(s.Dir), "Partitions": count(int64(p.Partitions)),
		"Width": page.HTML(fmt.Sprint(p.Width)), "Height": page.HTML(fmt.Sprint(p.Height)), "Rects": page.HTML(rects.String()),
		"FileBytes": count(s.Metrics.FileBytes), "UsedBytes": count(s.UsedBytes), "FreeBytes": count(s.Metrics.FreeBytes),
		"BaseBytes": count(s.BaseBytes), "NewerBytes": count(s.NewerBytes), "Messages": count(s.Messages),
		"Runs": count(int64(s.Metrics.Runs)), "Levels": page.HTML(levels.String()),
	})
}
