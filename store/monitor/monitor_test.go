// SPDX-License-Identifier: Apache-2.0

package monitor_test

import (
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
	"github.com/ashlar-dev/ashlar/store/monitor"
)

// page is what a scrape has found: the type of each name, and the value of each sample in
// the order in which they came.
type page struct {
	kind, help map[string]string
	value      map[string]float64
	order      []string
}

var sampleForm = regexp.MustCompile(`^([a-z_]+)(\{([a-z]+="[^"\\]*",?)*\})? (\S+)$`)

// scrape reads the text format by itself: every line must be of a known form.
func scrape(t *testing.T, db *store.DB) page {
	t.Helper()
	w := httptest.NewRecorder()
	monitor.Handler(db).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("status %d, %s", w.Code, w.Header())
	}
	p := page{kind: map[string]string{}, help: map[string]string{}, value: map[string]float64{}}
	for line := range strings.Lines(w.Body.String()) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(name, " ")
			p.help[name] = help
			continue
		}
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(name, " ")
			p.kind[name] = kind
			continue
		}
		form := sampleForm.FindStringSubmatch(line)
		if form == nil {
			t.Fatalf("a line that is no sample: %q", line)
		}
		v, err := strconv.ParseFloat(form[4], 64)
		if err != nil {
			t.Fatal(line, err)
		}
		p.value[form[1]+form[2]] = v
		p.order = append(p.order, form[1]+form[2])
	}
	return p
}

func TestScrape(t *testing.T) {
	w := env.Env{Clock: osenv.NewClock(), Random: env.Seeded(1), Disk: sim.NewDisk(), Tracer: env.NoTrace{}}
	db, err := store.Open(w, "db", store.Options{Memory: store.MemoryMin, Tuning: store.Tuning{Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	for i := range n {
		if err := db.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, 92)); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Get(fmt.Appendf(nil, "key%05d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := db.Delete([]byte("key00000")); err != nil {
			t.Fatal(err)
		}
	}
	p := scrape(t, db)
	for name, want := range map[string]float64{
		"puts_total": n, "gets_total": n, "deletes_total": 3, "flushes_total": 3, "user_bytes_total": n*100 + 3*8, "events_lost_total": 0,
		`operation_duration_seconds_count{operation="flush"}`: 3, `operation_size_count{operation="flush"}`: 3,
		"file_bytes": float64(db.Metrics().FileBytes), "branches": float64(db.Metrics().Branches),
	} {
		if got, ok := p.value["ashlar_store_"+name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	// Half of the changes have 100 bytes at most, all below 128.
	change := `ashlar_store_operation_size_bucket{operation="change",le="%d"}`
	if all := p.value[fmt.Sprintf(change, 127)]; p.value[fmt.Sprintf(change, 63)] != 0 || all < n/store.SampleEvery/2 || all != p.value[`ashlar_store_operation_size_count{operation="change"}`] {
		t.Errorf("%v changes of 64 to 127 bytes", all)
	}
	checkHistograms(t, p)
	checkNames(t, p)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after := scrape(t, db); after.value["ashlar_store_puts_total"] != n {
		t.Errorf("a closed store has %v puts", after.value["ashlar_store_puts_total"])
	}
}

var bucketForm = regexp.MustCompile(`^(.*)_bucket(\{operation="[a-z]+"),le="(.*)"\}$`)

// checkHistograms: buckets ascend, and the last one has everything.
func checkHistograms(t *testing.T, p page) {
	t.Helper()
	last, bound, of, n := 0.0, 0.0, "", 0
	for _, sample := range p.order {
		form := bucketForm.FindStringSubmatch(sample)
		if form == nil {
			continue
		}
		if name := form[1] + form[2]; name != of {
			of, last, bound = name, 0, -1
			n++
		}
		le, err := strconv.ParseFloat(form[3], 64)
		if v := p.value[sample]; err != nil || le <= bound || v < last {
			t.Fatalf("%s is %v behind %v of at most %v", sample, v, last, bound)
		}
		last, bound = p.value[sample], le
		if math.IsInf(le, 1) && last != p.value[form[1]+"_count"+form[2]+"}"] {
			t.Errorf("%s has %v in buckets and %v in all", of, last, p.value[form[1]+"_count"+form[2]+"}"])
		}
	}
	if n != 14 {
		t.Errorf("%d histograms, want two for each of seven operations", n)
	}
}

// checkNames: each name is documented, has a help text, and says its kind and unit; and
// nothing is documented that is not there.
func checkNames(t *testing.T, p page) {
	t.Helper()
	guide, err := os.ReadFile("../../docs/store.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, name := range regexp.MustCompile("`(ashlar_store_[a-z_]+)`").FindAllStringSubmatch(string(guide), -1) {
		told[name[1]] = true
	}
	for name, kind := range p.kind {
		if !told[name] {
			t.Errorf("docs/store.md does not name %s", name)
		}
		delete(told, name)
		if len(p.help[name]) < 5 || (kind == "counter") != strings.HasSuffix(name, "_total") {
			t.Errorf("%s is a %s: %q", name, kind, p.help[name])
		}
	}
	for name := range told {
		t.Errorf("docs/store.md names %s, which is not shown", name)
	}
}
