// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
)

// ProgressEvery is the interval at which the progress line is redrawn.
const ProgressEvery = 250 * time.Millisecond

// Progress draws one line that shows the progress of a search, and lets other
// output pass above it.
type Progress struct {
	w     io.Writer
	p     Palette
	start time.Time
	// tell returns the number of states computed and the format of the rest of the
	// line, in which %s, if present, stands for the number per second.
	tell func() (generated int64, format string)
	// width returns the number of columns, or 0 if it is unknown. A line that is
	// too long would wrap, and redrawing it would fill the screen.
	width func() int

	mu    sync.Mutex
	drawn bool
	last  int64
	at    time.Time
	stop  chan struct{}
	done  sync.WaitGroup
}

// NewProgress returns a Progress that draws nothing before Begin.
func NewProgress(t *Terminal, tell func() (int64, string)) *Progress {
	return &Progress{w: t.Err, p: NewPalette(t.ErrTTY), tell: tell, width: func() int { return columns(t.Err) }, stop: make(chan struct{})}
}

// Begin starts the clock and, if on is true, draws until End.
func (g *Progress) Begin(on bool) {
	g.start = time.Now()
	g.at = g.start
	if !on {
		return
	}
	g.done.Go(func() {
		tick := time.NewTicker(ProgressEvery)
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

// draw overwrites the previous line.
func (g *Progress) draw(now time.Time) {
	generated, format := g.tell()
	g.mu.Lock()
	defer g.mu.Unlock()
	rate := float64(generated-g.last) / max(now.Sub(g.at).Seconds(), 1e-3)
	g.last, g.at = generated, now
	line := strings.Replace(format, "%s", Count(int64(rate)), 1) + "  " + Duration(now.Sub(g.start))
	if n := g.width(); n > 0 {
		line = runewidth.Truncate(line, n-1, "")
	}
	fmt.Fprintf(g.w, "\r\x1b[K%s", g.p.Dim(line))
	g.drawn = true
}

// Above writes a line to w so that the progress line does not garble it.
func (g *Progress) Above(w io.Writer, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	fmt.Fprintln(w, line)
}

func (g *Progress) erase() {
	if g.drawn {
		fmt.Fprint(g.w, "\r\x1b[K")
		g.drawn = false
	}
}

// End stops drawing and returns the time since Begin.
func (g *Progress) End() time.Duration {
	elapsed := time.Since(g.start)
	close(g.stop)
	g.done.Wait()
	g.mu.Lock()
	g.erase()
	g.mu.Unlock()
	return elapsed
}

// Count formats a number with separated thousands.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Duration formats a time for people.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
