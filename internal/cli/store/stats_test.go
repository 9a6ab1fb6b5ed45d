// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/cli/page/browser"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/store"
)

// treeOptions are options with which few changes make a tree of several levels, the
// same one every time.
var treeOptions = store.Options{Memory: 64 << 20, Compression: store.None,
	Tuning: store.Tuning{MemtableBytes: 32 << 10, LeafBytes: 16 << 10, Fanout: 4, Runs: 3, BlobBytes: 1 << 10, Inline: true}}

// makeTree makes a store of so many changes.
func makeTree(dir string, changes int) error {
	disk, err := osenv.OpenDisk(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk, world.Random = disk, env.Seeded(1)
	db, err := store.Open(world, filepath.Base(dir), treeOptions)
	if err != nil {
		return err
	}
	for i := range changes {
		if err == nil {
			err = db.Put(fmt.Appendf(nil, "user/%04d", i*7%(changes*3/4)), fmt.Appendf(nil, "value %d", i))
		}
	}
	if err == nil {
		err = db.Put([]byte("picture"), bytes.Repeat([]byte("pixel"), 1000))
	}
	return errors.Join(err, db.Close())
}

// treePageOf is the page of a store's tree.
func treePageOf(t *testing.T) (string, *stats) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a<b>")
	if err := makeTree(dir, 4000); err != nil {
		t.Fatal(err)
	}
	s, err := openDir(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	a, err := inspect.Look(s.disk, s.name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.read(treeOptions)
	if err != nil {
		t.Fatal(err)
	}
	stats := statsOf(dir, &a, db.Metrics())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tree.html")
	if err := writeTreePage(file, &stats, a.Root); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), &stats
}

func TestTreePageInBrowser(t *testing.T) {
	text, stats := treePageOf(t)
	refs, leaves := 0, 0
	for _, l := range stats.Levels {
		refs += l.Refs
		if l.Level == 0 {
			leaves = l.Pivots
		}
	}
	if refs < 6 || leaves < 3 || len(stats.Levels) < 2 {
		t.Fatalf("a tree of %+v", stats.Levels)
	}
	if strings.Contains(text, "a<b>") || strings.Contains(text, "http") {
		t.Error("the page has a name as markup, or refers to something outside")
	}
	dom := browser.Open(t, text, browser.Observe+`
const box = e => e.getBoundingClientRect(), svg = box(q("#tree"));
note("title", q("h1").textContent.endsWith("a<b>"));
note("rects", qq("#tree rect").length);
note("titles", qq("#tree rect title").filter(e => /^branch \d+: [\d,]+ bytes of keys ".*" to .*, level \d$/.test(e.textContent)).length);
note("inside", qq("#tree rect").every(e => box(e).left >= svg.left - 1 && box(e).right <= svg.right + 1 && box(e).top >= svg.top - 1 && box(e).bottom <= svg.bottom + 1));
note("seen", qq("#tree rect").every(e => box(e).width >= 1 && box(e).height > 0));
const overlap = (a, b) => a.left < b.right - .1 && b.left < a.right - .1 && a.top < b.bottom - .1 && b.top < a.bottom - .1;
const boxes = qq("#tree rect").map(box);
note("apart", boxes.every((a, i) => boxes.every((b, k) => i >= k || !overlap(a, b))));
note("columns", new Set(qq("#tree rect:not(.above)").map(e => Math.round(box(e).left))).size);
note("colours", new Set(qq("#tree rect").map(e => getComputedStyle(e).fill)).size > 1);
note("levels", qq("#levels tr").length);
note("page", document.documentElement.scrollWidth <= window.innerWidth);
`)
	got := browser.Content(t, dom, "seen")
	columns := 0
	for _, w := range []string{
		"title=true", fmt.Sprintf("rects=%d", refs), fmt.Sprintf("titles=%d", refs), "inside=true", "seen=true", "apart=true", "colours=true",
		fmt.Sprintf("levels=%d", len(stats.Levels)+1), "page=true",
	} {
		if !strings.Contains(got, w+";") {
			t.Errorf("want %q in:\n%s", w, got)
		}
	}
	if _, rest, ok := strings.Cut(got, "columns="); ok {
		fmt.Sscanf(rest, "%d", &columns)
	}
	if columns < 2 || columns > leaves {
		t.Errorf("%d columns of %d partitions", columns, leaves)
	}
}
