// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// growth writes existing logs again over time, which passes when the search waits.
// Lines are incomplete for a while.
type growth struct {
	t     *testing.T
	from  map[string][]byte // what is left
	dir   string
	now   int64
	ended bool

	told      []Progress
	unwritten int // sections that were not written when Progress was called last
}

func newGrowth(t *testing.T, from string) *growth {
	g := &growth{t: t, from: map[string][]byte{}, dir: t.TempDir()}
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if g.from[f.Name()], err = os.ReadFile(filepath.Join(from, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

func (g *growth) live() *Live {
	return &Live{
		Now:   func() int64 { return began + g.now },
		Ended: func() bool { return g.ended },
		Wait:  func(context.Context) { g.wait() },
		Progress: func(p Progress) {
			g.told, g.unwritten = append(g.told, p), 0
			for _, text := range g.from {
				g.unwritten += bytes.Count(text, []byte("\n"))
			}
		},
	}
}

// wait advances the time, and writes the lines due until then.
func (g *growth) wait() {
	g.now += int64(60 * time.Millisecond)
	g.ended = true
	for name, text := range g.from {
		n := 0
		for n < len(text) {
			line := text[n : n+bytes.IndexByte(text[n:], '\n')+1]
			var at struct{ Start int64 }
			if err := json.Unmarshal(line, &at); err != nil && n > 0 {
				at.Start = 0 // the rest of a torn line
			}
			if at.Start > g.now {
				n += len(line) / 3 // torn
				break
			}
			n += len(line)
		}
		g.ended = g.ended && n == len(text)
		f, err := os.OpenFile(filepath.Join(g.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			g.t.Fatal(err)
		}
		if _, err := f.Write(text[:n]); err != nil {
			g.t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			g.t.Fatal(err)
		}
		g.from[name] = text[n:]
	}
}

// TestFollow checks the logs of a lock service while they grow: the verdict is that
// of the whole logs, and most sections are explained before the last ones are
// written.
func TestFollow(t *testing.T) {
	from := t.TempDir()
	k := &lockRun{r: rand.New(rand.NewPCG(31, 32)), step: int64(10 * time.Millisecond)}
	if err := k.write(from, 3, 4000); err != nil {
		t.Fatal(err)
	}
	spec := fileAlgorithm(t, "../../specs/lockservice/lockservice")
	g := newGrowth(t, from)
	r, err := Follow(context.Background(), spec, os.DirFS(g.dir), "lockservice", Options{Live: g.live()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Accepted || r.Sections != 4000 || r.Entered != 4000 {
		t.Fatalf("%v, %d sections, %d steps:\n%s", r.Verdict, r.Sections, r.Entered, text(r))
	}
	if first := g.told[0].Missing; len(first) != 4 || first[0] != "AServer(0)" {
		t.Errorf("it waits for the traces of %v", first)
	}
	early, waits := 0, 0
	for _, p := range g.told[:len(g.told)-1] {
		early = max(early, p.Sections)
		for _, x := range p.Processes {
			if x.Waits != nil && strings.Contains(x.Waits.Text, "await Len($variable) > 0") {
				waits++
			}
		}
	}
	if early < 3000 || waits == 0 {
		t.Errorf("%d of 4000 sections are explained before the end, and %d times a process waited for a message", early, waits)
	}
}

// TestFollowRejects: a value that no process wrote is found while the processes
// run.
func TestFollowRejects(t *testing.T) {
	from := t.TempDir()
	k := &lockRun{r: rand.New(rand.NewPCG(33, 34)), step: int64(10 * time.Millisecond)}
	if err := k.write(from, 3, 3000); err != nil {
		t.Fatal(err)
	}
	g := newGrowth(t, from)
	const server = "0.jsonl"
	lines := bytes.SplitAfter(g.from[server], []byte("\n"))
	forged := 0
	for i := 300; forged == 0; i++ {
		if from := []byte(`[from |-\u003e 1,`); bytes.Contains(lines[i], []byte(`"label":"serverReceive"`)) && bytes.Contains(lines[i], from) {
			forged, lines[i] = i+1, bytes.ReplaceAll(lines[i], from, []byte(`[from |-\u003e 2,`))
		}
	}
	g.from[server] = bytes.Join(lines, nil)
	r, err := Follow(context.Background(), fileAlgorithm(t, "../../specs/lockservice/lockservice"), os.DirFS(g.dir), "lockservice", Options{Live: g.live()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Rejected || g.ended {
		t.Errorf("%v, and the logs were complete: %v\n%s", r.Verdict, g.ended, text(r))
	}
	if want := fmt.Sprintf("(0.jsonl:%d): serverReceive", forged); !strings.Contains(text(r), want) {
		t.Errorf("the report lacks %q:\n%s", want, text(r))
	}
}
