// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
)

// TestProgressFits: a line of progress is drawn over the one before, so it must not be
// longer than the terminal is wide.
func TestProgressFits(t *testing.T) {
	for _, format := range []string{
		"123,456,789 distinct  properties of behaviours: graph of 12,345 of 123,456,789 states",
		"123,456,789 distinct  properties of behaviours: Abstract!Spec",
		"1,234,567,890 generated  123,456,789 distinct  12,345,678 queued  depth 1234  %s/s  ünï",
	} {
		for _, width := range []int{0, 1, 20, 40, 200} {
			var out bytes.Buffer
			g := NewProgress(&Terminal{Err: &out}, func() (int64, string) { return 1_234_567_890, format })
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

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := Count(n); got != want {
			t.Errorf("count(%d) = %s, want %s", n, got, want)
		}
	}
}
