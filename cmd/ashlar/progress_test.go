package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestProgressFits: a line of progress is drawn over the one before, so it must not be
// longer than the terminal is wide.
func TestProgressFits(t *testing.T) {
	state := check.Stats{Generated: 1_234_567_890, Distinct: 123_456_789, Queue: 12_345_678, Depth: 1234}
	for _, format := range []string{
		decidingProgress(state, check.Deciding{States: 12_345, Of: 123_456_789}),
		decidingProgress(state, check.Deciding{States: 123_456_789, Of: 123_456_789, Property: "Abstract!Spec"}),
		"1,234,567,890 generated  123,456,789 distinct  12,345,678 queued  depth 1234  %s/s  ünï",
	} {
		for _, width := range []int{0, 1, 20, 40, 200} {
			var out bytes.Buffer
			g := newProgress(&term{err: &out}, func() (int64, string) { return state.Generated, format })
			g.width = func() int { return width }
			g.start = time.Now()
			g.draw(g.start.Add(time.Second))
			line := strings.TrimPrefix(out.String(), "\r\x1b[K")
			if n := runewidth.StringWidth(line); width > 0 && n >= width || strings.Contains(line, "%") {
				t.Errorf("%d columns: %q", width, line)
			}
			if width == 200 && !strings.HasSuffix(line, "1.00 s") {
				t.Errorf("not the whole line: %q", line)
			}
		}
	}
}
