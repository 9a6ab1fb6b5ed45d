// SPDX-License-Identifier: Apache-2.0

package distsys_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/distsys"
)

const goodConfig = `{
  "system": "locks",
  "constants": {"NumClients": 2, "Names": "{\"a\", \"b\"}"},
  "resources": {
    "network": {"kind": "mailboxes", "mode": "relaxed", "at": [
      {"node": "server", "address": "127.0.0.1:7100", "indices": ["0"]},
      {"node": "clients", "address": "127.0.0.1:7101", "indices": ["1", 2]}]},
    "waiting": {"kind": "lengths", "of": "network"},
    "timeout": {"kind": "each", "like": {"kind": "timer", "after": "150ms"}}
  },
  "nodes": {
    "server": [{"archetype": "AServer", "self": "0", "refs": {"network": "network"}}],
    "clients": [
      {"archetype": "AClient", "self": "1", "refs": {"network": "network"}, "values": {"patience": "3"}},
      {"archetype": "AClient", "self": 2, "refs": {"network": "network"}, "values": {"patience": true}}]
  }
}`

func TestLoadConfig(t *testing.T) {
	c, err := distsys.LoadConfig(strings.NewReader(goodConfig))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ConstantValues()["Names"].String(); got != `{"a", "b"}` {
		t.Errorf("Names = %s", got)
	}
	if got := c.Nodes["clients"][1].Self.Value.AsInt(); got != 2 {
		t.Errorf("the second client is %d", got)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := distsys.LoadConfig(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if twice, err := json.Marshal(again); err != nil || string(twice) != string(text) {
		t.Errorf("written, read and written again:\n%s\n%s", text, twice)
	}
	if got := strings.Join(c.NodeNames(), " "); got != "clients server" {
		t.Errorf("nodes %s", got)
	}
	sys := &distsys.System{Name: "locks", Archetypes: []distsys.Template{
		{Name: "AServer", Params: []distsys.Param{{Name: "network", Ref: true, Indices: 1, Relaxed: true}}},
		{Name: "AClient", Params: []distsys.Param{{Name: "network", Ref: true, Indices: 1, Relaxed: true}, {Name: "patience"}}},
	}}
	if err := c.Check(sys); err != nil {
		t.Error(err)
	}
	sys.Archetypes[0].Params[0].Relaxed = false
	sys.Archetypes[0].Params[0].NotRelaxed = "label l sends twice"
	sys.Archetypes[1].Params = []distsys.Param{{Name: "network", Ref: true}, {Name: "fd", Ref: true}, {Name: "n"}}
	err = c.Check(sys)
	for _, want := range []string{
		"node server, process 1: AServer: relaxed mailboxes are not sound for parameter network: label l sends twice",
		"node clients, process 1: AClient: the resource of parameter fd is missing",
		"node clients, process 2: AClient: the value of parameter n is missing",
		"AClient has no value parameter patience; it has n",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	sys.Archetypes = sys.Archetypes[:1]
	if err := c.Check(sys); err == nil || !strings.Contains(err.Error(), "system locks has no archetype AClient; it has AServer") {
		t.Error(err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"syntax", `"locks",`, `"locks"`, "3:3: invalid character"},
		{"unknown field", `"system"`, `"sytem"`, `unknown field "sytem"`},
		{"type", `"locks"`, `7`, "system: want string, not number"},
		{"value", `"{\"a\", \"b\"}"`, `"{1,"`, "is not a TLA+ value"},
		{"no system", `"locks"`, `""`, "the name of the system is missing"},
		{"kind", `"kind": "lengths"`, `"kind": "lenghts"`, `resource waiting: kind "lenghts": want one of constant, counter, detector, dummy, each`},
		{"field of another kind", `"of": "network"`, `"of": "network", "after": "1s"`, `resource waiting: a resource of kind "lengths" has no "after"`},
		{"field missing", `"of": "network"`, `"of": ""`, `resource waiting: a resource of kind "lengths" needs "of"`},
		{"no such mailboxes", `"of": "network"`, `"of": "net"`, `there is no resource "net" of kind "mailboxes"`},
		{"a relaxed set", `"relaxed"`, `"relaxed", "distinct": true`, `resource network: relaxed mailboxes cannot be distinct`},
		{"mode", `"relaxed"`, `"lax"`, `mode "lax": want "strict", "relaxed" or "lossy"`},
		{"node of a site", `"node": "server"`, `"node": "servant"`, `there is no node "servant"; there are clients, server`},
		{"index twice", `"indices": ["0"]`, `"indices": ["1"]`, `index 1 is on both "server" and "clients"`},
		{"duration", `"150ms"`, `"soon"`, `"soon": want a positive time`},
		{"like", `"kind": "timer", "after": "150ms"`, `"kind": "mailboxes"`, `like: there cannot be one resource of kind "mailboxes" for each index`},
		{"resource", `"self": "0", "refs": {"network": "network"}`, `"self": "0", "refs": {"network": "net"}`, `node server, process 1: parameter network: there is no resource "net"; there are network, timeout, waiting`},
		{"process twice", `"self": 2`, `"self": 1`, "AClient(1) runs on node clients already"},
		{"no self", `"archetype": "AServer", "self": "0"`, `"archetype": "AServer"`, "archetype or self is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(goodConfig, c.from, c.to, 1)
			if text == goodConfig {
				t.Fatal("nothing replaced")
			}
			_, err := distsys.LoadConfig(strings.NewReader(text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := distsys.LoadConfig(strings.NewReader(goodConfig + " {}")); err == nil || !strings.Contains(err.Error(), "unexpected data after") {
		t.Errorf("trailing text: %v", err)
	}
	if _, err := distsys.LoadConfig(strings.NewReader(strings.Repeat(" ", distsys.ConfigMax+1))); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a huge file: %v", err)
	}
}

func FuzzLoadConfig(f *testing.F) {
	f.Add(goodConfig)
	f.Add(`{"system":"s","nodes":{"a":[{"archetype":"A","self":"<<1,{}>>"}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := distsys.LoadConfig(strings.NewReader(text))
		if err == nil && (c.System == "" || len(c.Nodes) == 0) {
			t.Error("an empty configuration was taken")
		}
	})
}
