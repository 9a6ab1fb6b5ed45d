// SPDX-License-Identifier: Apache-2.0

package worm_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

func TestGenesisComesBack(t *testing.T) {
	g := &wor.Genesis{Cluster: 0xc0ffee, Partitions: []wor.Config{
		{Members: []wor.Member{{ID: 1, Name: "a", Addr: "127.0.0.1:1"}, {ID: 1 << 63, Name: "b", Addr: "127.0.0.1:2"}}},
		{Partition: 1, Members: []wor.Member{{ID: 3, Name: "c", Addr: "127.0.0.1:3"}}},
	}}
	var b bytes.Buffer
	if err := worm.WriteGenesis(&b, g); err != nil {
		t.Fatal(err)
	}
	got, err := worm.ReadGenesis(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(g, got); d != "" {
		t.Error(d)
	}
}

func TestGenesisErrors(t *testing.T) {
	member := func(name, id, addr string) string {
		return `{"name":"` + name + `","id":"` + id + `","addr":"` + addr + `"}`
	}
	of := func(members ...string) string {
		return `{"cluster":"1","partitions":[{"members":[` + strings.Join(members, ",") + `]}]}`
	}
	for text, want := range map[string]string{
		``:                                "EOF",
		`{"cluster":"1","partitions":[]}`: "no partitions",
		`{"cluster":"0","partitions":[]}`: "hexadecimal",
		`{"cluster":"1","member":[]}`:     "unknown field",
		of():                              "0 members",
		of(member("a", "x", "h:1")):       `member "a": id is "x"`,
		of(member("a", "1", "")):          "no address",
		of(member("a", "1", "h:1"), member("b", "1", "h:2")): "same server",
		of(member("a", "1", "h:1"), member("b", "2", "h:1")): "same address",
	} {
		_, err := worm.ReadGenesis(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	_, err := worm.ReadGenesis(strings.NewReader(strings.Repeat(" ", worm.GenesisMax+1)))
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long text: %v", err)
	}
}
