// SPDX-License-Identifier: Apache-2.0

package wor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someConfig() *Config {
	return &Config{
		Partition: 3, Epoch: 7, Tag: 11, Digest: 1 << 63, Tainted: true,
		Members: []Member{{1, "a", "10.0.0.1:1"}, {2, "", ""}, {1<<64 - 1, "ü", "x"}},
	}
}

func TestConfigsAndMetasSurviveTheirEncoding(t *testing.T) {
	b, err := someConfig().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var c Config
	if err := c.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(someConfig(), &c); diff != "" {
		t.Error(diff)
	}
	m := &Meta{Owner: 5, Partition: 2, Protocol: Fast, Size: SegmentMax, Payload: []byte("p")}
	b, err = m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var n Meta
	if err := n.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, &n); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeIsNotEncoded(t *testing.T) {
	many := &Config{}
	for i := range MembersMax + 1 {
		many.Members = append(many.Members, Member{ID: ServerID(i)})
	}
	for name, c := range map[string]*Config{
		"no members": {},
		"twice":      {Members: []Member{{ID: 1}, {ID: 1}}},
		"many":       many,
		"name":       {Members: []Member{{Name: strings.Repeat("x", NameMax+1)}}},
		"addr":       {Members: []Member{{Addr: strings.Repeat("x", MemberAddrMax+1)}}},
	} {
		if b, err := c.AppendBinary(nil); err == nil || len(b) != 0 {
			t.Errorf("%s: encoded to %d bytes", name, len(b))
		}
	}
	for name, m := range map[string]*Meta{
		"protocol": {Protocol: 3},
		"size":     {Size: SegmentMax + 1},
		"payload":  {Payload: make([]byte, PayloadMax+1)},
	} {
		if b, err := m.AppendBinary(nil); err == nil || len(b) != 0 {
			t.Errorf("%s: encoded to %d bytes", name, len(b))
		}
	}
}

func FuzzConfig(f *testing.F) {
	b, _ := someConfig().MarshalBinary()
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Config
		if c.UnmarshalBinary(b) != nil {
			return
		}
		if again, err := c.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("decoded from %x, encoded to %x, %v", b, again, err)
		}
	})
}

func FuzzMeta(f *testing.F) {
	b, _ := (&Meta{Payload: []byte("payload")}).MarshalBinary()
	f.Add(b)
	f.Add(b[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Meta
		if m.UnmarshalBinary(b) != nil {
			return
		}
		if again, err := m.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("decoded from %x, encoded to %x, %v", b, again, err)
		}
	})
}
