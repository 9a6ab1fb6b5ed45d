// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestJourneys: messages between the two processes arrive as they were sent, with any
// values: no field hides another, and none is omitted. An empty slice may arrive as nil.
func TestJourneys(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, sent := range []any{new(Job), new(Answer), new(check.Figures), new(check.PeriodicQuery), new(check.PeriodicAnswer)} {
		for range 50 {
			v, ok := quick.Value(reflect.TypeOf(sent).Elem(), r)
			if !ok {
				t.Fatalf("no values of %T can be drawn", sent)
			}
			var pipe bytes.Buffer
			if err := json.NewEncoder(&pipe).Encode(v.Interface()); err != nil {
				t.Fatalf("send a %T: %v", sent, err)
			}
			got := reflect.New(v.Type())
			if err := json.NewDecoder(&pipe).Decode(got.Interface()); err != nil {
				t.Fatalf("receive a %T: %v", sent, err)
			}
			if diff := cmp.Diff(v.Interface(), got.Elem().Interface(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%T (-sent +received):\n%s", sent, diff)
			}
		}
	}
}
