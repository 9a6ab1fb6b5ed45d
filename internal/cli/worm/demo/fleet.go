// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/child"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/internal/worm/node"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// fleet runs servers as processes on this machine: a cluster of three, and one
// server that does not belong to it yet.
type fleet struct {
	dir, cluster string
	program      string // of the servers
	members      []wor.Member
	servers      []*child.Server
}

func newFleet(dir, program string) (*fleet, error) {
	f := &fleet{dir: dir, cluster: filepath.Join(dir, "cluster.json"), servers: make([]*child.Server, 4)}
	var err error
	if f.program, err = findServer(program); err != nil {
		return nil, err
	}
	// The cluster's description has to name ports before the servers have them.
	addrs, err := ports.Free(len(f.servers))
	if err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		m, err := f.format(fmt.Sprintf("n%d", i+1), addr)
		if err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
	}
	g := &wor.Genesis{Cluster: osenv.NewRandom().Uint64() | 1, Partitions: []wor.Config{{Members: f.members[:3]}}}
	return f, access.Write(f.cluster, g)
}

// findServer finds the server program: the requested one, or ashlard, next to this
// program or on the PATH.
func findServer(program string) (string, error) {
	if program != "" {
		return exec.LookPath(program)
	}
	if this, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(this), "ashlard")); err == nil {
			return beside, nil
		}
	}
	found, err := exec.LookPath("ashlard")
	if err != nil {
		return "", errors.New("the server ashlard is neither beside this program nor on the PATH: install it with 'go install github.com/ashlar-dev/ashlar/cmd/ashlard', or name it with --ashlard PROGRAM")
	}
	return found, nil
}

// format creates the directory of a server.
func (f *fleet) format(name, addr string) (wor.Member, error) {
	disk, err := osenv.OpenDisk(filepath.Join(f.dir, name))
	if err != nil {
		return wor.Member{}, err
	}
	defer disk.Close()
	world := osenv.New()
	world.Disk = disk
	id, err := node.Format(world, "log", name)
	if err != nil {
		return wor.Member{}, err
	}
	return wor.Member{ID: id, Name: name, Addr: addr}, nil
}

// open opens a client of the cluster.
func (f *fleet) open() (*worm.Client, error) {
	g, err := access.Read(f.cluster)
	if err != nil {
		return nil, err
	}
	return worm.Open(worm.Options{Genesis: g})
}

func (f *fleet) pid(i int) int { return f.servers[i].PID() }

// start starts a server and waits until it listens.
func (f *fleet) start(ctx context.Context, i int) (err error) {
	m := f.members[i]
	cmd := exec.Command(f.program, "serve", filepath.Join(f.dir, m.Name), "--cluster", f.cluster, "--listen", m.Addr)
	f.servers[i], err = child.Start(ctx, "server "+m.Name, cmd)
	return err
}

// kill ends all running servers at once.
func (f *fleet) kill() {
	for _, s := range f.servers {
		if s != nil {
			s.Kill()
		}
	}
}

// stop ends all servers gracefully.
func (f *fleet) stop() error {
	for _, s := range f.servers {
		if err := s.Terminate(); err != nil {
			return err
		}
	}
	for _, s := range f.servers {
		<-s.Ended()
		if err := s.Failed(); err != nil {
			return err
		}
	}
	return nil
}
