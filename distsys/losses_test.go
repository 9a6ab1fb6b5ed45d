// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
)

// TestLosses gives each kind of resource to a parameter that a crash keeps, sets back
// and clears: a configuration must not lose more, or less, than the specification.
func TestLosses(t *testing.T) {
	const value = `"value": "0"`
	suits := map[string][3]bool{ // Keeps, Starts, Clears
		`"kind": "mailboxes", "at": [{"node": "n", "address": "a", "indices": ["1"]}]`:                    {true, false, true},
		`"kind": "mailboxes", "mode": "relaxed", "at": [{"node": "n", "address": "a", "indices": ["1"]}]`: {true, false, false},
		`"kind": "detector", "at": [{"node": "n", "address": "a", "indices": ["1"]}]`:                     {true, true, true},
		`"kind": "shared", ` + value:                                {true, false, false},
		`"kind": "variable", ` + value:                              {false, true, false},
		`"kind": "queue"`:                                           {false, false, true},
		`"kind": "constant", ` + value:                              {true, true, true},
		`"kind": "dummy", ` + value:                                 {true, true, true},
		`"kind": "timer", "after": "1s"`:                            {true, true, true},
		`"kind": "each", "like": {"kind": "shared", ` + value + `}`: {false, false, false},
		`"kind": "each", "like": {"kind": "queue"}`:                 {false, false, true},
	}
	for supply, want := range suits {
		for loss := range 3 {
			c, err := distsys.LoadConfig(strings.NewReader(fmt.Sprintf(`{"system": "s", "resources": {"r": {%s}},
				"nodes": {"n": [{"archetype": "A", "self": "1", "refs": {"p": "r"}}]}}`, supply)))
			if err != nil {
				t.Fatal(err)
			}
			sys := &distsys.System{Archetypes: []distsys.Template{{Name: "A", Crashes: true,
				Params: []distsys.Param{{Name: "p", Ref: true, Relaxed: true, Crash: distsys.Loss(loss)}}}}}
			if !c.Survives(sys, "n") || c.Survives(sys, "m") {
				t.Fatal("it is not said which node survives")
			}
			err = c.Check(sys)
			if (err == nil) != want[loss] {
				t.Errorf("%s for a parameter with the loss %d: %v", supply, loss, err)
			}
			if err != nil && !regexp.MustCompile(`node n, process 1: A: resource r of kind .* does not suit parameter p: after a crash, `).MatchString(err.Error()) {
				t.Errorf("%s: %v", supply, err)
			}
		}
	}
	c, err := distsys.LoadConfig(strings.NewReader(`{"system": "s", "nodes": {"n": [{"archetype": "A", "self": "1"}, {"archetype": "B", "self": "2"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	sys := &distsys.System{Archetypes: []distsys.Template{{Name: "A", Crashes: true}, {Name: "B"}}}
	if err := c.Check(sys); err == nil || !strings.Contains(err.Error(), "B cannot share a node with A") {
		t.Errorf("one that crashes beside one that does not: %v", err)
	}
}

// TestLengthsOfLossyMailboxes refuses the lengths of mailboxes to which a process
// sends that crashes: a message that it loses counts in the specification.
func TestLengthsOfLossyMailboxes(t *testing.T) {
	c, err := distsys.LoadConfig(strings.NewReader(`{"system": "s",
		"resources": {"net": {"kind": "mailboxes", "at": [{"node": "m", "address": "a", "indices": ["1"]}]}, "len": {"kind": "lengths", "of": "net"}},
		"nodes": {"m": [{"archetype": "A", "self": "1", "refs": {"len": "len"}}], "n": [{"archetype": "B", "self": "2", "refs": {"net": "net"}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, crashes := range []bool{false, true} {
		err := c.Check(&distsys.System{Archetypes: []distsys.Template{
			{Name: "A", Params: []distsys.Param{{Name: "len", Ref: true}}},
			{Name: "B", Crashes: crashes, Params: []distsys.Param{{Name: "net", Ref: true}}},
		}})
		if crashes != (err != nil && strings.Contains(err.Error(), "node m, process 1: A: parameter len: the lengths of mailboxes net cannot be used")) || !crashes && err != nil {
			t.Errorf("it crashes: %v; got %v", crashes, err)
		}
	}
}
