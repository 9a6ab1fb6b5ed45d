package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// progressEvery is how often the progress line is drawn anew.
const progressEvery = 250 * time.Millisecond

// progress draws one line that tells how far a search is, and lets other
// output pass above it.
type progress struct {
	w     io.Writer
	p     palette
	start time.Time
	// generated is how many states were computed, and tell says the rest, where
	// %s, if it is there, stands for how many a second.
	tell func() (generated int64, format string)
	// width is how many columns there are, 0 where that is not known: a line that
	// does not fit would be drawn again below itself.
	width func() int

	mu    sync.Mutex
	drawn bool
	last  int64
	at    time.Time
	stop  chan struct{}
	done  sync.WaitGroup
}

// newProgress draws nothing until it begins.
func newProgress(t *term, tell func() (int64, string)) *progress {
	return &progress{w: t.err, p: newPalette(t.errTTY), tell: tell, width: func() int { return columns(t.err) }, stop: make(chan struct{})}
}

// searchProgress is how far a search is, which compiled code may have taken over.
func searchProgress(m *check.Monitor, compiled *atomic.Bool) func() (int64, string) {
	return func() (int64, string) {
		s := m.Stats()
		if d, on := m.Deciding(); on {
			return s.Generated, decidingProgress(s, d)
		}
		line := fmt.Sprintf("%s generated  %s distinct  %s queued  depth %d  %%s/s",
			count(s.Generated), count(s.Distinct), count(s.Queue), s.Depth)
		if disk := m.DiskBytes(); disk > 0 {
			line += fmt.Sprintf("  %s MB on disk", count(disk/1e6))
		}
		if compiled.Load() {
			line += "  compiled"
		}
		return s.Generated, line
	}
}

// decidingProgress is how far the decision about properties of behaviours is.
func decidingProgress(s check.Stats, d check.Deciding) string {
	line := fmt.Sprintf("%s distinct  properties of behaviours: ", count(s.Distinct))
	if d.Property == "" {
		return line + fmt.Sprintf("graph of %s of %s states", count(d.States), count(d.Of))
	}
	return line + d.Property
}

// begin starts the clock and, where on is true, draws until end.
func (g *progress) begin(on bool) {
	g.start = time.Now()
	g.at = g.start
	if !on {
		return
	}
	g.done.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				g.draw(now)
			case <-g.stop:
				return
			}
		}
	})
}

// draw writes the line over the one before.
func (g *progress) draw(now time.Time) {
	generated, format := g.tell()
	g.mu.Lock()
	defer g.mu.Unlock()
	rate := float64(generated-g.last) / max(now.Sub(g.at).Seconds(), 1e-3)
	g.last, g.at = generated, now
	line := strings.Replace(format, "%s", count(int64(rate)), 1) + "  " + duration(now.Sub(g.start))
	if n := g.width(); n > 0 {
		line = runewidth.Truncate(line, n-1, "")
	}
	fmt.Fprintf(g.w, "\r\x1b[K%s", g.p.dim(line))
	g.drawn = true
}

// above writes a line to w so that the progress line does not garble it.
func (g *progress) above(w io.Writer, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	fmt.Fprintln(w, line)
}

func (g *progress) erase() {
	if g.drawn {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.drawn = false
	}
}

// end stops drawing and returns how long it was since begin.
func (g *progress) end() time.Duration {
	elapsed := time.Since(g.start)
	close(g.stop)
	g.done.Wait()
	g.mu.Lock()
	g.erase()
	g.mu.Unlock()
	return elapsed
}

// count writes a number with its thousands apart.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// duration writes a time as a person would.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
