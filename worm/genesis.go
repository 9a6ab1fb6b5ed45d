// SPDX-License-Identifier: Apache-2.0

package worm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// GenesisMax is the longest accepted text of a Genesis, in bytes.
const GenesisMax = 1 << 20

// genesisFile is the JSON form of a Genesis.
type genesisFile struct {
	Cluster string `json:"cluster"`
	// Restored has the earlier identities of the cluster. Known has later
	// configurations of its partitions.
	Restored   []string        `json:"restored,omitempty"`
	Partitions []partitionFile `json:"partitions"`
	Known      []knownFile     `json:"known,omitempty"`
}

type knownFile struct {
	Partition wor.Partition `json:"partition"`
	Epoch     wor.Epoch     `json:"epoch"`
	Tag       string        `json:"tag"`
	Digest    string        `json:"digest"`
	Tainted   bool          `json:"tainted,omitempty"`
	Members   []memberFile  `json:"members"`
}

type partitionFile struct {
	Members []memberFile `json:"members"`
}

type memberFile struct {
	Name string `json:"name"`
	ID   string `json:"id"`
	Addr string `json:"addr"`
}

// WriteGenesis writes a cluster's Genesis as JSON.
func WriteGenesis(w io.Writer, g *wor.Genesis) error {
	f := genesisFile{Cluster: hexadecimal(g.Cluster)}
	for _, old := range g.Restored {
		f.Restored = append(f.Restored, hexadecimal(old))
	}
	for _, c := range g.Partitions {
		f.Partitions = append(f.Partitions, partitionFile{writeMembers(c.Members)})
	}
	for _, c := range g.Known {
		f.Known = append(f.Known, knownFile{c.Partition, c.Epoch, hexadecimal(c.Tag), hexadecimal(c.Digest), c.Tainted, writeMembers(c.Members)})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// ReadGenesis reads the output of WriteGenesis. Its errors are written for the
// person who edited the text.
func ReadGenesis(r io.Reader) (*wor.Genesis, error) {
	text, err := io.ReadAll(io.LimitReader(r, GenesisMax+1))
	if err != nil {
		return nil, fmt.Errorf("read the cluster's description: %w", err)
	}
	if len(text) > GenesisMax {
		return nil, fmt.Errorf("the cluster's description is longer than %d bytes", GenesisMax)
	}
	var f genesisFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("the cluster's description: %w", err)
	}
	g := &wor.Genesis{}
	if g.Cluster, err = number("cluster", f.Cluster); err != nil {
		return nil, err
	}
	if len(f.Partitions) == 0 {
		return nil, errors.New("the cluster has no partitions")
	}
	for _, text := range f.Restored {
		old, err := number("restored", text)
		if err == nil && old == g.Cluster {
			err = fmt.Errorf("restored: %s is the cluster's own number", text)
		}
		if err != nil {
			return nil, err
		}
		g.Restored = append(g.Restored, old)
	}
	for i, p := range f.Partitions {
		c := wor.Config{Partition: wor.Partition(i)}
		if c.Members, err = readMembers(fmt.Sprintf("partition %d", i), p.Members); err != nil {
			return nil, err
		}
		g.Partitions = append(g.Partitions, c)
	}
	for _, k := range f.Known {
		c, err := k.read(len(g.Partitions))
		if err != nil {
			return nil, err
		}
		g.Known = append(g.Known, c)
	}
	return g, nil
}

// read reads a later configuration.
func (k *knownFile) read(partitions int) (c wor.Config, err error) {
	what := fmt.Sprintf("known: partition %d, epoch %d", k.Partition, k.Epoch)
	c = wor.Config{Partition: k.Partition, Epoch: k.Epoch, Tainted: k.Tainted}
	if uint64(k.Partition) >= uint64(partitions) || k.Epoch == 0 {
		return c, fmt.Errorf("%s: want a partition below %d and an epoch of at least 1", what, partitions)
	}
	if c.Tag, err = number(what+": tag", k.Tag); err != nil {
		return c, err
	}
	if c.Digest, err = strconv.ParseUint(k.Digest, 16, 64); err != nil {
		return c, fmt.Errorf("%s: digest is %q, want a hexadecimal number of up to 16 digits", what, k.Digest)
	}
	c.Members, err = readMembers(what, k.Members)
	return c, err
}

func hexadecimal(n uint64) string { return fmt.Sprintf("%016x", n) }

func writeMembers(members []wor.Member) []memberFile {
	var out []memberFile
	for _, m := range members {
		out = append(out, memberFile{m.Name, m.ID.String(), m.Addr})
	}
	return out
}

func readMembers(what string, members []memberFile) ([]wor.Member, error) {
	var out []wor.Member
	for _, m := range members {
		id, err := number(fmt.Sprintf("%s, member %q: id", what, m.Name), m.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, wor.Member{ID: wor.ServerID(id), Name: m.Name, Addr: m.Addr})
	}
	if err := CheckMembers(out); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// CheckMembers returns an error if the members of a configuration are invalid.
func CheckMembers(members []wor.Member) error {
	if len(members) == 0 || len(members) > wor.MembersMax {
		return fmt.Errorf("%d members, want 1 to %d", len(members), wor.MembersMax)
	}
	ids, addrs := map[wor.ServerID]string{}, map[string]string{}
	for _, m := range members {
		switch {
		case m.ID == 0:
			return fmt.Errorf("member %q has no id: it is what 'ashlard format' prints", m.Name)
		case m.Addr == "":
			return fmt.Errorf("member %q has no address", m.Name)
		case ids[m.ID] != "":
			return fmt.Errorf("members %q and %q are the same server", ids[m.ID], m.Name)
		case addrs[m.Addr] != "":
			return fmt.Errorf("members %q and %q have the same address", addrs[m.Addr], m.Name)
		}
		ids[m.ID], addrs[m.Addr] = cmp.Or(m.Name, "?"), cmp.Or(m.Name, "?")
	}
	return nil
}

func number(what, hex string) (uint64, error) {
	n, err := strconv.ParseUint(hex, 16, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is %q, want a hexadecimal number of up to 16 digits", what, hex)
	}
	return n, nil
}
