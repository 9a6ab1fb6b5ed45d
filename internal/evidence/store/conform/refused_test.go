// SPDX-License-Identifier: Apache-2.0

package conform

import (
	"context"
	"os"
	"strings"
	"testing"
)

type files struct{}

func (files) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

const specPath = "../../../../specs/store/StoreTrace.tla"

func spec(t testing.TB) *Spec {
	t.Helper()
	s, err := Load(files{}, specPath)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func verdict(t testing.TB, s *Spec, events []Event, o Options) *Report {
	t.Helper()
	r, err := s.Check(context.Background(), events, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(superblock uint64, slot int, cut, version uint64) Event {
	return Event{Kind: Open, Superblock: superblock, Slot: slot, Cut: cut, Version: version}
}
func change(version uint64) Event { return Event{Kind: Change, Version: version} }
func freeze(superblock, version uint64) Event {
	return Event{Kind: Freeze, Superblock: superblock, Version: version}
}
func checkpoint(superblock uint64, slot int, version uint64) Event {
	return Event{Kind: Checkpoint, Superblock: superblock, Slot: slot, Version: version}
}
func journal(version uint64) Event        { return Event{Kind: Journal, Version: version} }
func ask(id int, version uint64) Event    { return Event{Kind: SyncAsk, ID: id, Version: version} }
func answer(id int, version uint64) Event { return Event{Kind: SyncAnswer, ID: id, Version: version} }
func first() Event                        { return open(1, 0, 0, 0) }
func crash() Event                        { return Event{Kind: Crash} }
func kill() Event                         { return Event{Kind: Kill} }
func trace(events ...Event) []Event       { return events }
func after(begin []Event, more ...Event) []Event {
	return append(begin[:len(begin):len(begin)], more...)
}

// TestTracesThatAreAllowed has the permitted steps of a store, each in a few events.
func TestTracesThatAreAllowed(t *testing.T) {
	s := spec(t)
	three := trace(first(), change(1), change(2), change(3))
	sent := after(three, freeze(2, 2))
	done := after(sent, checkpoint(2, 1, 2))
	for name, events := range map[string][]Event{
		"nothing":                                        nil,
		"nothing but the end of a program":               trace(kill(), crash(), first()),
		"a sync":                                         after(three, ask(1, 3), journal(3), answer(1, 3)),
		"a sync that a checkpoint answers":               after(three, ask(1, 3), freeze(2, 3), checkpoint(2, 1, 3), answer(1, 3)),
		"a sync of what is persistent":                   after(three, journal(3), ask(1, 3), answer(1, 3)),
		"syncs answered in another order":                after(three, ask(1, 3), change(4), ask(2, 4), journal(4), answer(2, 4), answer(1, 3)),
		"a sync that is never answered":                  after(three, ask(1, 3), crash(), open(1, 0, 0, 1), ask(1, 1), answer(1, 1)),
		"an empty store is synced":                       trace(first(), ask(1, 0), answer(1, 0)),
		"a crash that loses all":                         after(three, crash(), first()),
		"a crash that loses some":                        after(three, crash(), open(1, 0, 0, 2), change(3)),
		"a crash that loses nothing":                     after(three, crash(), open(1, 0, 0, 3)),
		"a kill that loses some, and later a crash more": after(three, kill(), open(1, 0, 0, 2), crash(), open(1, 0, 0, 1)),
		"a crash between kills":                          after(three, kill(), crash(), kill(), open(1, 0, 0, 1), journal(1)),
		"a batch":                                        trace(first(), change(7), journal(7), crash(), open(1, 0, 0, 7)),
		"the journal overtakes the cut":                  after(done, journal(3), freeze(3, 2), checkpoint(3, 0, 2), crash(), open(3, 0, 2, 3)),
		"the journal says what is known":                 after(done, journal(1), crash(), open(2, 1, 2, 2)),
		"a superblock arrives unheard":                   after(sent, crash(), open(2, 1, 2, 2), freeze(3, 2), checkpoint(3, 0, 2)),
		"a superblock does not arrive":                   after(sent, crash(), open(1, 0, 0, 1), freeze(2, 0), checkpoint(2, 1, 0)),
		"a superblock is given up":                       after(sent, freeze(2, 3), checkpoint(2, 1, 3), crash(), open(2, 1, 3, 3)),
		"a program ends with a superblock on its way":    after(sent, kill(), open(2, 1, 2, 3), crash(), open(2, 1, 2, 2)),
	} {
		if r := verdict(t, s, events, Options{Refine: true}); r.Refused != nil || r.Explained != len(events) {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// TestBrokenTracesAreRefused has stores that are wrong in one place: each trace is
// refused at the event that shows the mistake, and for the right reason.
func TestBrokenTracesAreRefused(t *testing.T) {
	s := spec(t)
	three := trace(first(), change(1), change(2), change(3))
	done := after(three, freeze(2, 2), checkpoint(2, 1, 2))
	for _, c := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"a sync is answered before the journal is durable", after(three, ask(1, 3), answer(1, 3), journal(3)),
			"event 6 of 7, SyncAnswer id 1 version 3: the version is not persistent (persistent 0, frozen 0, ephemeral 3, syncs <<3>>, superblock 1 in slot 0 up to 0)"},
		{"a sync is answered when its superblock is on its way", after(three, ask(1, 3), freeze(2, 3), answer(1, 3)),
			"event 7 of 7, SyncAnswer id 1 version 3: the version is not persistent (persistent 0, frozen 3, ephemeral 3, syncs <<3>>, superblock 1 in slot 0 up to 0, superblock 2 in slot 1 up to 3 on its way)"},
		{"a sync is answered by the sync of an older version", after(three, ask(1, 3), change(4), ask(2, 4), journal(3), answer(1, 3), answer(2, 4)),
			"event 10 of 10, SyncAnswer id 2 version 4: the version is not persistent (persistent 3, frozen 3, ephemeral 4, syncs (2 :> 4), superblock 1 in slot 0 up to 0)"},
		{"a sync of the life before is answered", after(three, ask(1, 3), crash(), open(1, 0, 0, 3), journal(3), answer(1, 3)),
			"event 9 of 9, SyncAnswer id 1 version 3: the sync does not wait: it was not asked for, or the program that asked has ended (persistent 3, frozen 3, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a sync is answered twice", after(three, ask(1, 3), journal(3), answer(1, 3), answer(1, 3)),
			"event 8 of 8, SyncAnswer id 1 version 3: the sync does not wait: it was not asked for, or the program that asked has ended (persistent 3, frozen 3, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"an answer that nobody asked for", after(three, journal(3), answer(0, 3)),
			"event 6 of 6, SyncAnswer id 0 version 3: there is no such sync (persistent 3, frozen 3, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a sync forgets the last change", after(three, ask(1, 2)),
			"event 5 of 5, SyncAsk id 1 version 2: the version is not the ephemeral one (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a sync is asked for twice", after(three, ask(1, 3), ask(1, 3)),
			"event 6 of 6, SyncAsk id 1 version 3: the sync waits already (persistent 0, frozen 0, ephemeral 3, syncs <<3>>, superblock 1 in slot 0 up to 0)"},
		{"reopened below the persistent version", after(three, journal(2), crash(), open(1, 0, 0, 1)),
			"event 7 of 7, Open superblock 1 slot 0 cut 0 version 1: the version is below the persistent one (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, no power)"},
		{"reopened below the persistent version after a kill", after(three, journal(2), kill(), open(1, 0, 0, 1)),
			"event 7 of 7, Open superblock 1 slot 0 cut 0 version 1: the version is below the persistent one (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, no program)"},
		{"what a kill lost comes back", after(three, kill(), open(1, 0, 0, 1), crash(), open(1, 0, 0, 2)),
			"event 8 of 8, Open superblock 1 slot 0 cut 0 version 2: the version is above the ephemeral one (persistent 0, frozen 1, ephemeral 1, syncs <<>>, superblock 1 in slot 0 up to 0, no power)"},
		{"what a crash left is lost by the next", after(three, crash(), open(1, 0, 0, 2), crash(), open(1, 0, 0, 1)),
			"event 8 of 8, Open superblock 1 slot 0 cut 0 version 1: the version is below the persistent one (persistent 2, frozen 2, ephemeral 2, syncs <<>>, superblock 1 in slot 0 up to 0, no power)"},
		{"reopened above the ephemeral version", after(three, crash(), open(1, 0, 0, 4)),
			"event 6 of 6, Open superblock 1 slot 0 cut 0 version 4: the version is above the ephemeral one (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, no power)"},
		{"reopened in the middle of a batch", trace(first(), change(1), change(5), crash(), open(1, 0, 0, 3)),
			"event 5 of 5, Open superblock 1 slot 0 cut 0 version 3: there never was such a version (persistent 0, frozen 0, ephemeral 5, syncs <<>>, superblock 1 in slot 0 up to 0, no power)"},
		{"reopened without its newest superblock", after(done, crash(), open(1, 0, 0, 3)),
			"event 8 of 8, Open superblock 1 slot 0 cut 0 version 3: the superblock is neither the newest durable one nor the one on its way (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 2 in slot 1 up to 2, no power)"},
		{"a superblock with another cut", after(done, crash(), open(2, 1, 1, 3)),
			"event 8 of 8, Open superblock 2 slot 1 cut 1 version 3: the superblock is neither the newest durable one nor the one on its way (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 2 in slot 1 up to 2, no power)"},
		{"a tree that the journal does not reach", after(three, freeze(2, 2), crash(), open(2, 1, 2, 1)),
			"event 7 of 7, Open superblock 2 slot 1 cut 2 version 1: the journal ends below the tree (persistent 0, frozen 2, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, superblock 2 in slot 1 up to 2 on its way, no power)"},
		{"two programs at once", after(three, open(1, 0, 0, 3)),
			"event 5 of 5, Open superblock 1 slot 0 cut 0 version 3: the store is open (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a change in a store that is not open", after(three, kill(), change(4)),
			"event 6 of 6, Change version 4: the store is not open (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, no program)"},
		{"a number is given twice", after(three, change(3)),
			"event 5 of 5, Change version 3: the version is not above the ephemeral one (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a checkpoint of a version that never was", after(trace(first(), change(1), change(5)), freeze(2, 3)),
			"event 4 of 4, Freeze superblock 2 version 3: there never was such a version (persistent 0, frozen 0, ephemeral 5, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a checkpoint of a version to come", after(three, freeze(2, 4)),
			"event 5 of 5, Freeze superblock 2 version 4: the version is above the ephemeral one (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a superblock is left out", after(done, freeze(4, 3)),
			"event 7 of 7, Freeze superblock 4 version 3: the superblock's number is not the next one (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 2 in slot 1 up to 2)"},
		{"the cut goes back", after(done, freeze(3, 1)),
			"event 7 of 7, Freeze superblock 3 version 1: the cut goes back (persistent 2, frozen 2, ephemeral 3, syncs <<>>, superblock 2 in slot 1 up to 2)"},
		{"a checkpoint is durable before it is frozen", after(three, checkpoint(2, 1, 2), freeze(2, 2)),
			"event 5 of 6, Checkpoint superblock 2 slot 1 version 2: no superblock is on its way (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"checkpoints in the wrong order", after(three, freeze(2, 2), checkpoint(3, 1, 2)),
			"event 6 of 6, Checkpoint superblock 3 slot 1 version 2: another superblock is on its way (persistent 0, frozen 2, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, superblock 2 in slot 1 up to 2 on its way)"},
		{"a checkpoint of more than was frozen", after(three, freeze(2, 2), checkpoint(2, 1, 3)),
			"event 6 of 6, Checkpoint superblock 2 slot 1 version 3: another version was frozen (persistent 0, frozen 2, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0, superblock 2 in slot 1 up to 2 on its way)"},
		{"the newest superblock is overwritten", after(done, freeze(3, 3), checkpoint(3, 1, 3)),
			"event 8 of 8, Checkpoint superblock 3 slot 1 version 3: the slot is that of the newest durable superblock (persistent 2, frozen 3, ephemeral 3, syncs <<>>, superblock 2 in slot 1 up to 2, superblock 3 in slot 0 up to 3 on its way)"},
		{"the journal is ahead of the changes", after(three, journal(4), change(4)),
			"event 5 of 6, Journal version 4: the version is above the ephemeral one (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"the journal ends in the middle of a batch", trace(first(), change(1), change(5), journal(3)),
			"event 4 of 4, Journal version 3: there never was such a version (persistent 0, frozen 0, ephemeral 5, syncs <<>>, superblock 1 in slot 0 up to 0)"},
		{"a word that the specification does not have", after(three, Event{Kind: "Compact"}),
			"event 5 of 5, Compact version 0: there is no such event (persistent 0, frozen 0, ephemeral 3, syncs <<>>, superblock 1 in slot 0 up to 0)"},
	} {
		if got := verdict(t, s, c.events, Options{Refine: true}).String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestEveryReasonIsShown compares the reasons in the module with those of the traces
// above.
func TestEveryReasonIsShown(t *testing.T) {
	module, err := os.ReadFile(specPath)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile("refused_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, reasons, _ := strings.Cut(string(module), "WhyNotOpen(e) ==")
	reasons, _, _ = strings.Cut(reasons, "Why ==")
	n := 0
	for i, text := range strings.Split(reasons, `"`) {
		if i%2 == 1 && strings.Contains(text, " ") {
			n++
			if !strings.Contains(string(shown), ": "+text+" (") {
				t.Errorf("no broken trace is refused because %q", text)
			}
		}
	}
	if n < 15 {
		t.Errorf("%d reasons were found", n)
	}
}
