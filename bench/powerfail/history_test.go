// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"maps"
	"strings"
	"testing"
)

// after is what the batches of the list make.
func (h *history) after(numbers ...uint64) map[string]print {
	state := map[string]print{}
	for _, n := range numbers {
		for _, c := range h.batch(n) {
			if c.value == nil {
				delete(state, string(c.key))
			} else {
				state[string(c.key)] = printOf(c.value)
			}
		}
	}
	return state
}

func upTo(n uint64) (all []uint64) {
	for i := uint64(1); i <= n; i++ {
		all = append(all, i)
	}
	return all
}

func TestJudge(t *testing.T) {
	h := &history{seed: 1}
	h.extend(1, 40)
	h.cut(30)
	h.extend(2, 60)
	// A batch with two values that no later one touches.
	const half = 60
	var values []string
	for _, c := range h.batch(half) {
		if c.value != nil && string(c.key) != positionKey {
			values = append(values, string(c.key))
		}
	}
	if len(values) < 1 {
		t.Fatal("another seed is needed")
	}
	changed := func(state map[string]print, key string, p print) map[string]print {
		state = maps.Clone(state)
		state[key] = p
		return state
	}
	without := func(state map[string]print, key string) map[string]print {
		state = maps.Clone(state)
		delete(state, key)
		return state
	}
	for _, c := range []struct {
		name    string
		durable uint64
		found   map[string]print
		want    finding
		at      uint64
	}{
		{"nothing", 0, map[string]print{}, fine, 0},
		{"all", 60, h.after(upTo(60)...), fine, 60},
		{"a prefix", 20, h.after(upTo(33)...), fine, 33},
		{"exactly what was acknowledged", 33, h.after(upTo(33)...), fine, 33},
		{"one less", 34, h.after(upTo(33)...), lost, 33},
		{"nothing of much", 34, map[string]print{}, lost, 0},
		{"a batch without its position", 50, changed(h.after(upTo(60)...), positionKey, h.after(upTo(59)...)[positionKey]), halved, 0},
		{"a part of a batch", 50, changed(h.after(upTo(59)...), values[0], h.after(upTo(60)...)[values[0]]), halved, 0},
		{"a batch is missing in the middle", 50, h.after(append(upTo(58), 60)...), disordered, 0},
		{"an acknowledged batch is missing in the middle", 59, h.after(append(upTo(58), 60)...), lost, 0},
		{"another value", 50, changed(h.after(upTo(60)...), values[0], print{3, 3}), damaged, 0},
		{"an unknown key", 50, changed(h.after(upTo(60)...), "stranger", print{3, 3}), damaged, 0},
		{"an acknowledged key is gone", 60, without(h.after(upTo(60)...), values[0]), lost, 0},
	} {
		v := h.judge(c.durable, c.found)
		if v.Finding != c.want || v.Position != c.at || (v.Finding != fine) != (v.Detail != "") {
			t.Errorf("%s: %s at %d (%s), want %s at %d", c.name, v.Finding, v.Position, v.Detail, c.want, c.at)
		}
	}
}

// TestBatches are the same each time, and others in another life.
func TestBatches(t *testing.T) {
	large, deletes, syncing := 0, 0, 0
	for n := uint64(1); n <= 1000; n++ {
		a, b, c := batch(1, 1, n), batch(1, 1, n), batch(1, 2, n)
		seen := map[string]bool{}
		for i := range a {
			if !bytes.Equal(a[i].key, b[i].key) || !bytes.Equal(a[i].value, b[i].value) {
				t.Fatalf("batch %d differs from itself", n)
			}
			if seen[string(a[i].key)] {
				t.Fatalf("batch %d has %s twice", n, a[i].key)
			}
			seen[string(a[i].key)] = true
			if len(a[i].value) > valueApart {
				large++
			}
			if a[i].value == nil {
				deletes++
			}
		}
		if len(a) == len(c) && bytes.Equal(a[0].value, c[0].value) && len(a[0].value) > 0 {
			t.Fatalf("batch %d is the same in two lives", n)
		}
		if syncs(1, 1, n, 8) {
			syncing++
		}
	}
	if large < 20 || deletes < 200 || syncing < 60 || syncing > 250 {
		t.Errorf("%d large values, %d deletes, %d syncs in 1000 batches", large, deletes, syncing)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-engines nobody", "no engine is called \"nobody\""},
		{"-disk sometimes", "want strict, journalled or both"},
		{"-rounds 0", "at least 1"},
		{"-every 0", "at least 1"},
		{"-limit -1s", "negative"},
		{"-json -markdown", "exclude each other"},
		{"-rounds many", "invalid value"},
		{"more", "unexpected argument"},
	} {
		_, _, err := parse(strings.Fields(c.args), engines(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "see -help") {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
	c, o, err := parse(strings.Fields("-engines ashlar,bbolt -disk strict -rounds 3 -seed 9 -json"), engines(), io.Discard)
	if err != nil || len(c.Engines) != 2 || c.Engines[1].Name != "bbolt" || len(c.Disks) != 1 || c.Disks[0] || c.Rounds != 3 || c.Seed != 9 || !o.JSON {
		t.Errorf("parsed %+v %+v %v", c, o, err)
	}
	var help strings.Builder
	_, _, _ = parse([]string{"-help"}, engines(), &help)
	for _, want := range []string{"Usage:", "Examples:", "-rounds", "badger-each", "ashlar-eager"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("the help says nothing of %s", want)
		}
	}
}

func TestReport(t *testing.T) {
	r := &row{Engine: "toy", Disk: "strict", Failures: 2, Findings: map[string]int{}}
	r.add(verdict{}, "")
	for range 5 {
		r.add(verdict{lost, 3, "as after batch 3"}, "life 1, ")
	}
	r.add(verdict{refused, 0, "no"}, "life 2, ")
	rep := newReport(config{Seed: 7, Engines: []engine{{Name: "toy", Setup: "small", Promise: "little"}}}, "powerfail -x", []*row{r})
	var text, markdown strings.Builder
	if err := rep.text(&text); err != nil {
		t.Fatal(err)
	}
	if err := rep.markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| toy | strict | 2 | 7 | 6 | 0 | 1 | 0 | 5 | 0 | 0 | 0 |\n",
		"- toy, strict: life 1, lost synced: as after batch 3\n",
		"| toy | of this build | small | little |\n", "`powerfail -x`",
	} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("Markdown lacks %q:\n%s", want, markdown.String())
		}
	}
	for _, want := range []string{"seed 7", "toy, strict: life 2, refused to open: no", "promises: little"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, text.String())
		}
	}
	if n := strings.Count(text.String(), "lost synced: as"); n != examplesMax {
		t.Errorf("%d examples of one finding, want %d", n, examplesMax)
	}
}
