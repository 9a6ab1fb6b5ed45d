// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource/local"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// TestTour runs the tour, which asserts by itself what the language says.
func TestTour(t *testing.T) {
	given := constants{"Colours": "{red, green}", "None": "None"}
	w := newWorld(t, system(t, "tour", given.values()))
	shared := func(text string) *local.Shared { return local.NewShared(tla(text)) }
	turn := shared("1")
	counter := &cell{Shared: shared("0"),
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			next := value.Int(now.AsInt() + 1)
			return next, next, nil
		},
		write: func(_ *distsys.Tx, now, v value.Value) (value.Value, error) {
			return value.Int(max(now.AsInt(), v.AsInt())), nil
		}}
	doubled := &cell{Shared: shared("0"),
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			return value.Int(2 * now.AsInt()), now, nil
		},
		write: func(_ *distsys.Tx, _, v value.Value) (value.Value, error) { return value.Int(v.AsInt() / 2), nil }}
	discard := &cell{Shared: shared(`"kept"`),
		write: func(_ *distsys.Tx, now, _ value.Value) (value.Value, error) { return now, nil }}
	letters, _ := value.NewFn(tla("0..3"))
	for i, text := range []string{"<<1, 2, 3>>", `<<"for one">>`, `<<"for two">>`, "<<>>"} {
		letters = letters.ExceptIndex(value.Int(int32(i)), tla(text))
	}
	// A queue of the runtime gives what a section has written to others only.
	mail := newCells(letters, cell{
		read: func(_ *distsys.Tx, now value.Value) (value.Value, value.Value, error) {
			if now.Len() == 0 {
				return now, now, distsys.ErrBlocked
			}
			return value.Head(now), value.Tail(now), nil
		},
		write: func(_ *distsys.Tx, now, m value.Value) (value.Value, error) { return value.Append(now, m), nil },
	})
	w.spawn("AOrder", value.Int(1), nil, map[string]distsys.Resource{
		"turn": turn, "next": counter, "mail": mail, "twice": doubled, "lost": discard, "seed": local.NewVariable(tla("8"))})

	cells := newCells(tla("<<0, 0>>"), cell{})
	grand, leftover := shared("16"), shared(`"l"`)
	w.spawn("ACalls", value.Int(2), nil, map[string]distsys.Resource{"turn": turn, "total": grand, "cells": cells, "left": leftover})

	places := newCells(same(tla(`{red, green} \X (1..2)`), value.String("")), cell{})
	for self := int32(3); self <= 4; self++ {
		w.spawn("AValues", value.Int(self), map[string]value.Value{"list": tla("<<1, 2, 3, 4>>")},
			map[string]distsys.Resource{"turn": turn, "where": places})
	}
	w.run(nil)
	if got := turn.Value().AsInt(); got != 5 {
		t.Errorf("turn is %d, want 5", got)
	}
	if got, want := w.printed.String(), "<<\"tour\", 3, 9>>\n<<\"tour\", 4, 9>>\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	w.explained(given, "CONSTANT defaultInitValue = defaultInitValue")
}
