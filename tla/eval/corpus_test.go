package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/check"
)

// corpusModel is a row of the corpus's table. Counts are -1 where the table
// has none.
type corpusModel struct {
	module, cfg, result                     string
	distinct, generated, depth              int64
	tlcDistinct, tlcGenerated, tlcDepth, rc int64
	seconds                                 float64
}

func corpusModels(t testing.TB) []corpusModel {
	dir := corpus(t)
	text, err := os.ReadFile(filepath.Join(dir, "models.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	var out []corpusModel
	for _, line := range strings.Split(string(text), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) < 13 || f[2] != "exhaustive search" {
			continue
		}
		seconds, _ := strconv.ParseFloat(f[12], 64)
		out = append(out, corpusModel{
			module: filepath.Join(dir, f[0]), cfg: filepath.Join(dir, f[1]), result: f[6],
			distinct: number(f[3]), generated: number(f[4]), depth: number(f[5]),
			tlcGenerated: number(f[8]), tlcDistinct: number(f[9]), tlcDepth: number(f[10]), rc: number(f[11]), seconds: seconds,
		})
	}
	return out
}

func TestScratch(t *testing.T) {
	only := os.Getenv("ONLY")
	limit, _ := strconv.ParseFloat(os.Getenv("LIMIT"), 64)
	if limit == 0 {
		limit = 10
	}
	for _, row := range corpusModels(t) {
		if only != "" && !strings.Contains(row.cfg, only) || row.seconds == 0 || row.seconds > limit {
			continue
		}
		t.Run(filepath.Base(row.cfg), func(t *testing.T) {
			spec, cfg := loadFiles(t, row.module, row.cfg)
			m, err := New(spec, cfg, Options{Reference: os.Getenv("REF") != ""})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
			defer cancel()
			res, err := check.Run(ctx, m, check.Options{SafetyOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			s := fmt.Sprintf("%v %d/%d/%d want %d/%d/%d in %v (%s)", res.Verdict, res.Generated, res.Distinct, res.Depth, row.tlcGenerated, row.tlcDistinct, row.tlcDepth, time.Since(start).Round(time.Millisecond), res.Reason)
			if res.Err != nil {
				s += fmt.Sprintf("\n%v %v", res.Err, res.Err.Places)
			}
			if res.Generated != row.tlcGenerated || res.Distinct != row.tlcDistinct {
				t.Error(s)
			} else {
				t.Log(s)
			}
		})
	}
}
