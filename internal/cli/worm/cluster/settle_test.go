// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"

	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// TestSettle: after a change of members the command looks until all follow, and
// shows what it saw last when a look fails or its time is over. Only the first look
// may fail it.
func TestSettle(t *testing.T) {
	// The member is in that epoch, and the partition in epoch 3.
	state := func(epoch wor.Epoch) []worm.PartitionState {
		return []worm.PartitionState{{Config: wor.Config{Epoch: 3}, Members: []worm.MemberState{{Answers: true, Epoch: epoch}}}}
	}
	failed := errors.New("the registers cannot be read")
	type look struct {
		epoch wor.Epoch
		err   error
		end   bool // the context ends after it
	}
	for what, test := range map[string]struct {
		looks []look
		want  wor.Epoch
		err   error
	}{
		"at once":              {[]look{{epoch: 3}}, 3, nil},
		"after some looks":     {[]look{{epoch: 1}, {epoch: 2}, {epoch: 3}}, 3, nil},
		"the first look fails": {[]look{{epoch: 1, err: failed}}, 0, failed},
		"a later one fails":    {[]look{{epoch: 1}, {epoch: 2}, {epoch: 1, err: failed}}, 2, nil},
		"the time is over":     {[]look{{epoch: 1}, {epoch: 2, end: true}}, 2, nil},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		parts, err := settle(ctx, func(context.Context) ([]worm.PartitionState, error) {
			if n == len(test.looks) {
				t.Fatalf("%s: there is a look too many", what)
			}
			l := test.looks[n]
			n++
			if l.end {
				cancel()
			}
			return state(l.epoch), l.err
		})
		cancel()
		if !errors.Is(err, test.err) || n != len(test.looks) {
			t.Errorf("%s: %v after %d looks, want %v after %d", what, err, n, test.err, len(test.looks))
		}
		if err == nil && parts[0].Members[0].Epoch != test.want {
			t.Errorf("%s: the member is in epoch %d, want %d", what, parts[0].Members[0].Epoch, test.want)
		}
	}
}
