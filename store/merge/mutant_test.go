package merge_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutantsVariable has the mutants run: each is a build and a run of the tests.
const mutantsVariable = "ASHLAR_STORE_MUTANTS"

// TestMutantsAreFoundOut breaks the package in one place after the other: the
// other tests must notice each.
func TestMutantsAreFoundOut(t *testing.T) {
	if os.Getenv(mutantsVariable) == "" {
		t.Skip("set " + mutantsVariable + "=1 to run it: it takes minutes")
	}
	for _, m := range []struct{ name, file, old, new string }{
		{"a turn leaves the others where they are", "merge.go", "\t\tcase reverse:\n\t\t\tt.take(i, s.Prev())\n", "\t\tcase reverse:\n"},
		{"a turn forgets who was at the end", "merge.go", "\t\tcase reverse && h.gone:\n\t\t\tt.take(i, s.Last())\n", "\t\tcase reverse && h.gone:\n"},
		{"a turn forgets who was at the beginning", "merge.go", "\t\tcase h.gone:\n\t\t\tt.take(i, s.First())\n", "\t\tcase h.gone:\n"},
		{"the oldest of a key is first", "merge.go", "cmp.Compare(y.m.Seq, x.m.Seq)", "cmp.Compare(x.m.Seq, y.m.Seq)"},
		{"twins have no order backwards", "merge.go", "\tif t.reverse {\n\t\treturn c > 0\n\t}\n\treturn c < 0", "\tif c == a-b {\n\t\treturn c < 0\n\t}\n\tif t.reverse {\n\t\treturn c > 0\n\t}\n\treturn c < 0"},
		{"the number is the whole order", "merge.go", "\treturn t.beforeByAll(a, b)\n", "\treturn a < b\n"},
		{"numbers outlive the common bytes", "merge.go", "\t\tt.common = t.common[:shared(t.common, h.m.Key)]\n\t\tt.renumber()\n\t\treturn\n", "\t\tt.common = t.common[:shared(t.common, h.m.Key)]\n"},
		{"a short key is read from its end", "merge.go", "uint64(b) << (56 - 8*i)", "uint64(b) << (8 * i)"},
		{"an error is an end", "merge.go", "err != nil && t.err == nil {\n\t\t\tt.err = err", "err != nil && t.err == nil {\n\t\t\tt.err = nil"},
		{"a replay forgets the loser", "merge.go", "\t\t\tt.losers[n] = int32(w)\n", ""},
		{"spans that touch are two", "ranges.go", "r.spans[n-1].Seq == seq && bytes.Equal(r.spans[n-1].Hi, lo)", "r.spans[n-1].Seq == seq+1<<60 && bytes.Equal(r.spans[n-1].Hi, lo)"},
		{"the oldest tombstone counts", "ranges.go", "r.active[up].Seq >= r.active[i].Seq", "r.active[up].Seq <= r.active[i].Seq"},
		{"the heap is no heap", "ranges.go", "if r.active[c].Seq > r.active[big].Seq {", "if r.active[c].Seq < 0 {"},
		{"a tombstone has its end in it", "ranges.go", "bytes.Compare(r.spans[r.at].Hi, key) <= 0 {\n\t\tr.at++", "bytes.Compare(r.spans[r.at].Hi, key) < 0 {\n\t\tr.at++"},
		{"a tombstone of the future counts", "ranges.go", "t.Seq > after && t.Seq <= at", "t.Seq > after"},
		{"a jump goes beyond an older tombstone", "ranges.go", "r.spans[i+1].Seq > newest && ", ""},
		{"a jump back goes beyond an older tombstone", "ranges.go", "r.spans[i-1].Seq > newest && ", ""},
		{"a jump goes over a gap", "ranges.go", " && bytes.Equal(r.spans[i].Hi, r.spans[i+1].Lo)", ""},
		{"a jump back goes over a gap", "ranges.go", " && bytes.Equal(r.spans[i-1].Hi, r.spans[i].Lo)", ""},
		{"tombstones are not clipped", "ranges.go", "\t\tt.Hi = hi\n", ""},
		{"who has newer messages jumps too", "visible.go", " || newest == 0 || newest >= cover {", " || newest == 0 {"},
		{"who is unknown jumps too", "visible.go", " || newest == 0 || newest >= cover {", " || newest >= cover {"},
		{"nobody jumps", "visible.go", "v.under[i] != v.ranges.at || newest", "newest < cover || newest"},
		{"the newest is seen at any moment, forward", "visible.go", "\t\tif m.Seq > v.view.At {\n\t\t\tv.raw.step()\n\t\t\tcontinue\n\t\t}\n\t\tcover", "\t\tcover"},
		{"the older versions are seen too", "visible.go", "\treturn v.forward(true)\n", "\treturn v.forward(false)\n"},
		{"a deleted key's past is seen", "visible.go", "\t\t\tpassing, steps = true, 0\n", "\t\t\tsteps = 0\n"},
		{"versions are passed one by one", "visible.go", "steps++; steps > passStepsMax {\n\t\t\t\t\tv.spare", "steps++; steps < 0 {\n\t\t\t\t\tv.spare"},
		{"the upper bound is in it", "visible.go", "bytes.Compare(m.Key, v.view.Hi) >= 0", "bytes.Compare(m.Key, v.view.Hi) > 0"},
		{"the lower bound is out", "visible.go", "bytes.Compare(m.Key, v.view.Lo) < 0 {\n\t\t\tbreak", "bytes.Compare(m.Key, v.view.Lo) <= 0 {\n\t\t\tbreak"},
		{"operands go under a tombstone", "visible.go", " || m.Seq < cover {\n\t\t\tbreak", " {\n\t\t\tbreak"},
		{"operands are in the wrong order", "fold.go", "o.merger.Combine(o.spare[:0], key, m.Value, o.bytes)", "o.merger.Combine(o.spare[:0], key, o.bytes, m.Value)"},
		{"operands are in the wrong order backwards", "fold.go", "o.merger.Combine(o.spare[:0], key, o.bytes, m.Value)", "o.merger.Combine(o.spare[:0], key, m.Value, o.bytes)"},
		{"a delete keeps the operands backwards", "visible.go", "\t\tcase message.Delete:\n\t\t\tv.clear()\n", "\t\tcase message.Delete:\n\t\t\tv.exists = false\n"},
		{"a blob keeps the operands backwards", "visible.go", "\t\tdefault:\n\t\t\tv.clear()\n", "\t\tdefault:\n"},
		{"a blob forgets its operands", "visible.go", "\tif v.operand.some {\n\t\treturn v.operand.over(dst, v.key, blob, true)\n\t}\n", ""},
		{"the end is a beginning", "visible.go", "v.err != nil || v.place == above:", "v.err != nil:"},
		{"the beginning is an end", "visible.go", "v.err != nil || v.place == below:", "v.err != nil:"},
		{"a failed gathering is an answer", "visible.go", "\treturn v.raw.err == nil\n", "\treturn true\n"},
		{"a failed folding is an answer", "visible.go", "\tif v.raw.err != nil {\n\t\treturn v.finished()\n\t}\n\tv.buffer", "\tv.buffer"},
		{"keep forgets the snapshots", "keep.go", "for i > 0 && seq <= k.o.Snapshots[i-1] {", "for i > 0 && seq < k.o.Snapshots[i-1] {"},
		{"keep drops what a tombstone hides from some", "keep.go", "if m.Seq < k.covers[stripe] {", "if m.Seq < k.covers[len(k.covers)-1] {"},
		{"keep drops deletes above the bottom", "keep.go", "nothing := k.o.Bottom || ", "nothing := true || "},
		{"keep keeps deletes at the bottom", "keep.go", "nothing := k.o.Bottom || ", "nothing := "},
		{"keep drops a delete over what a snapshot sees", "keep.go", "\tif m.Kind != message.Delete && p.deleted != 0 {\n\t\treturn k.putDelete()\n\t}\n", "\tif m.Kind != message.Delete {\n\t\tp.deleted = 0\n\t}\n"},
		{"keep combines across snapshots", "keep.go", "case m.Kind == message.Merge && k.stripeOf(m.Seq) == p.stripe:", "case m.Kind == message.Merge:"},
		{"keep folds across snapshots", "keep.go", "case m.Kind == message.Put && k.stripeOf(m.Seq) == p.stripe:", "case m.Kind == message.Put:"},
		{"keep applies operands to what a tombstone hides", "keep.go", "case m.Kind == message.Delete || m.Seq < k.covers[p.stripe]:", "case m.Kind == message.Delete:"},
		{"keep gives an old number", "keep.go", "k.put(p.key, k.buffer, p.operand.newest, message.Put)", "k.put(p.key, k.buffer, 1, message.Put)"},
		{"keep drops tombstones that snapshots need", "keep.go", "if i > 0 || !k.o.Bottom {", "if !k.o.Bottom {"},
		{"keep keeps all tombstones", "keep.go", "if i > 0 || !k.o.Bottom {", "if i >= 0 {"},
		{"keep is silent about blobs", "keep.go", "k.o.Dropped(ref)", "_ = ref"},
		{"keep reads beyond its end", "keep.go", "bytes.Compare(m.Key, k.o.Hi) >= 0 {\n\t\t\tbreak", "bytes.Compare(m.Key, k.o.Hi) > 0 {\n\t\t\tbreak"},
		{"keep puts a blob's operands on nothing", "keep.go", "\tp.operand.some = false\n\treturn k.put(p.key, p.operand.bytes", "\tp.operand.some, p.sealed = false, true\n\treturn k.put(p.key, p.operand.bytes"},
		{"a starting message is a further one", "keep.go", "k.starts, k.place.kept = !k.place.kept, true", "k.starts, k.place.kept = k.place.kept, true"},
		{"a fold goes under a tombstone", "fold.go", "if m.Seq < f.cover {", "if m.Seq < 0 {"},
		{"a fold forgets its operands", "fold.go", "\tcase f.operand.some:\n\t\tf.dst, f.exists = f.operand.over(f.dst, f.key, value, exists), true\n", ""},
		{"a fold keeps the last blob", "fold.go", "f.done, f.exists, f.isBlob, f.err = false, false, false, nil", "f.done, f.exists, f.err = false, false, nil"},
		{"a fold's blob forgets its operands", "fold.go", "\tif f.operand.some {\n\t\treturn f.operand.over(f.dst, f.key, blob, true)\n\t}\n", ""},
	} {
		t.Run(m.name, func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.old); n != 1 {
				t.Fatalf("%s has the text %d times", m.file, n)
			}
			dir := t.TempDir()
			changed := filepath.Join(dir, m.file)
			if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			whole, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {whole: changed}})
			if err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(list, overlay, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "test", "-overlay", list, "-count=1", "-failfast", "-vet=off", "-timeout=60s",
				"-skip", "Mutants", ".", "-rapid.checks=1000", "-rapid.nofailfile").CombinedOutput()
			switch {
			case err == nil:
				t.Error("no test has noticed")
			case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic: "):
				t.Errorf("it is not a test that fails:\n%s", out)
			}
		})
	}
}
