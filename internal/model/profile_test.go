// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/check"
)

// TestProfile counts by hand what is evaluated in the four states of a model.
func TestProfile(t *testing.T) {
	const module = "---- MODULE M ----\nEXTENDS Integers\nVARIABLES x, y\nInit == x = 0 /\\ y = 0\n" +
		"Up == /\\ x + y < 3\n      /\\ x' = x + 1\n      /\\ y' = y\nNever == x + y > 9 /\\ UNCHANGED <<x, y>>\n" +
		"Even == {i \\in 1..8 : i % 2 = 0}\nOdd == {i \\in 1..8 : i % 2 = 1}\n" +
		"Next == Up \\/ Never\nInv == x + y >= 0 /\\ (x + y = 7 => y \\in Odd) /\\ 4 \\in Even\n====\n"
	for _, profile := range []bool{true, false} {
		spec, cfg := loadText(t, module, "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE")
		m := newModel(t, spec, cfg, Options{Profile: profile})
		m.Sample()
		r, err := check.Run(context.Background(), m, check.Options{})
		if err != nil || r.Distinct != 4 {
			t.Fatalf("%v: %+v", err, r)
		}
		m.Sample()
		costs, outside := m.Profile()
		if !profile {
			if costs != nil || outside != 0 {
				t.Errorf("counted without being asked: %d expressions", len(costs))
			}
			continue
		}
		if outside < 1 {
			t.Errorf("%d samples, want those between expressions", outside)
		}
		got := map[string]string{}
		for _, c := range costs {
			text := strings.Join(strings.Fields(c.Span.Text()), " ")
			got[text] = fmt.Sprint(c.Evaluated, " ", c.Passed)
		}
		for text, want := range map[string]string{
			"x + y < 3":               "4 3", // in four states, true in three
			"x' = x + 1":              "3 3",
			"y' = y":                  "3 3",
			"x + y > 9":               "4 0",
			"UNCHANGED <<x, y>>":      "0 0",
			"x + y >= 0":              "4 4",
			"x + y = 7":               "4 0",
			"y \\in Odd":              "0 0",
			"x + y = 7 => y \\in Odd": "4 4",
			// Even was computed before the search; whether Odd was is not said.
			"i % 2 = 0":       "",
			"x = 0 /\\ y = 0": "1 1",
		} {
			if got[text] != want {
				t.Errorf("%s: %q, want %q", text, got[text], want)
			}
		}
		if t.Failed() {
			t.Log(got)
		}
	}
}
