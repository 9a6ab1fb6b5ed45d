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

// GenesisMax is the longest text of a Genesis that is read, in bytes.
const GenesisMax = 1 << 20

// genesisFile is a Genesis as text.
type genesisFile struct {
	Cluster    string          `json:"cluster"`
	Partitions []partitionFile `json:"partitions"`
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
	f := genesisFile{Cluster: fmt.Sprintf("%016x", g.Cluster)}
	for _, c := range g.Partitions {
		var p partitionFile
		for _, m := range c.Members {
			p.Members = append(p.Members, memberFile{m.Name, m.ID.String(), m.Addr})
		}
		f.Partitions = append(f.Partitions, p)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// ReadGenesis reads what WriteGenesis has written. An error says what is wrong
// with the text, in words for who wrote it.
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
	for i, p := range f.Partitions {
		c := wor.Config{Partition: wor.Partition(i)}
		for _, m := range p.Members {
			id, err := number(fmt.Sprintf("partition %d, member %q: id", i, m.Name), m.ID)
			if err != nil {
				return nil, err
			}
			c.Members = append(c.Members, wor.Member{ID: wor.ServerID(id), Name: m.Name, Addr: m.Addr})
		}
		if err := CheckMembers(c.Members); err != nil {
			return nil, fmt.Errorf("partition %d: %w", i, err)
		}
		g.Partitions = append(g.Partitions, c)
	}
	return g, nil
}

// CheckMembers says what is wrong with the members of a configuration.
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
