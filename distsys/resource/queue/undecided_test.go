// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/queue"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestSectionsDoNotReadUndecidedPlaces: a section waits for a message that is
// not decided, and is woken when the one behind it comes to the front.
func TestSectionsDoNotReadUndecidedPlaces(t *testing.T) {
	q := queue.New(queue.Limits{})
	ref := distsys.NewRef("in", q.In())
	first, _ := q.Stage(true, queue.Message{Value: value.Int(1)})
	q.Force(queue.Message{Value: value.Int(2)})
	in := instance(t, 1, int32(0), func(got *int32, tx *distsys.Tx) (distsys.Label, error) {
		v, err := distsys.Read(tx, ref, distsys.Int())
		*got = v
		return distsys.Done, err
	})
	for range 5 {
		if in.Step() == distsys.Finished {
			t.Fatalf("read %d, which is not decided", in.State())
		}
	}
	q.Drop(first)
	status := distsys.Running
	for range 5 {
		status = in.Step()
	}
	if status != distsys.Finished || in.State() != 2 {
		t.Errorf("status %v, read %d; want 2", status, in.State())
	}
}

// TestADropMakesRoom: abandoned messages take no room, and a waiting writer is
// notified.
func TestADropMakesRoom(t *testing.T) {
	q := queue.New(queue.Limits{Messages: 10, Bytes: 100})
	kept, _ := q.Stage(true, queue.Message{Value: value.Int(1), Size: 10})
	given, _ := q.Stage(true, queue.Message{Value: value.Int(2), Size: 80})
	if q.Room(1, 20) {
		t.Error("there is room for 20 bytes beside 90 of 100")
	}
	woken := make(chan struct{}, 1)
	w := env.NewSignal(func() { woken <- struct{}{} })
	q.WatchRoom(w)
	w.Take()
	q.Drop(given)
	select {
	case <-woken:
	case <-time.After(10 * time.Second):
		t.Error("nobody is told of the room")
	}
	q.UnwatchRoom(w)
	if !q.Room(1, 90) || q.Room(1, 91) {
		t.Error("there is not room for just 90 bytes beside 10 of 100")
	}
	q.Ready(kept)
}

// TestUndecidedPlacesAnywhereHoldBack: a section that takes places in several
// queues is let in when every message is decided, not just the first.
func TestUndecidedPlacesAnywhereHoldBack(t *testing.T) {
	q := queue.New(queue.Limits{})
	q.Force(queue.Message{Value: value.Int(1)})
	second, _ := q.Stage(true, queue.Message{Value: value.Int(2)})
	if _, outcome := q.Stage(false, queue.Message{Value: value.Int(3)}); outcome != queue.Busy {
		t.Errorf("a section with other places was let in behind an undecided one: %v", outcome)
	}
	q.Ready(second)
	if _, outcome := q.Stage(false, queue.Message{Value: value.Int(3)}); outcome != queue.Staged {
		t.Errorf("a section was kept out though all is decided: %v", outcome)
	}
}
