// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/durable"
	"github.com/ashlar-dev/ashlar/distsys/resource"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/child"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/link"
	"github.com/ashlar-dev/ashlar/store/wal"
	"github.com/ashlar-dev/ashlar/tla/value"
)

// options of a server. Peers are the addresses at which the servers listen to each
// other, in their order; Listen is where this one listens to clients.
type options struct {
	dir    string
	server int
	listen string
	peers  []string
	// key is a file with the key with which the servers authenticate each other; "":
	// none, and they listen to each other on loopback only. public lets clients
	// connect from other machines.
	key    string
	public bool
	// profile is where a CPU profile of the server is written when it ends; "": none.
	profile string
}

var errNotLinked = errors.New("this program was built without the compiled specification: go run ./examples/raftkv build build/raftkv makes one with it")

// compiled is the system of a configuration.
func compiled(c *distsys.Config) (*distsys.System, error) {
	sys, err := linked(c.ConstantValues())
	if err == nil && sys == nil {
		err = errNotLinked
	}
	return sys, err
}

// format makes the directory of a server; its name ends with the server's number,
// as in "data/server1".
func format(dir string) error {
	base := filepath.Base(dir)
	n, err := strconv.Atoi(strings.TrimLeft(base, "abcdefghijklmnopqrstuvwxyz-_"))
	if err != nil || n < 1 {
		return fmt.Errorf("%s: the name of the directory ends with the number of the server, such as server1", dir)
	}
	return formatServer(dir, n)
}

func formatServer(dir string, server int) error {
	disk, err := osenv.OpenDisk(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer disk.Close()
	tasks := osenv.NewTasks()
	defer tasks.Close()
	o := durable.Options{Env: osenv.New(), Tasks: tasks, Dir: filepath.Base(dir) + "/journal", System: "raftkv", Node: nodeOf(server)}
	o.Env.Disk = disk
	return durable.Format(o)
}

// Bounds of a key in bytes.
const (
	keyFileMin = link.KeyMin
	keyFileMax = 1 << 10
)

// makeKey writes a new key to a file that does not exist yet.
func makeKey(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // it never fails
	_, err = fmt.Fprintf(f, "%x\n", key)
	return errors.Join(err, f.Close())
}

// readKey reads the key of a file; without a file there is none.
func readKey(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	key, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("-key: %w", err)
	}
	if key = bytes.TrimSpace(key); len(key) < keyFileMin || len(key) > keyFileMax {
		return nil, fmt.Errorf("-key %s: %d bytes; want %d to %d: raftkv key FILE makes one", path, len(key), keyFileMin, keyFileMax)
	}
	return key, nil
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, o options) (err error) {
	if strings.HasPrefix(o.listen, ":") {
		o.listen = "127.0.0.1" + o.listen
	}
	if err := secure.Addr(o.listen, o.public, "in front of it"); err != nil {
		return fmt.Errorf("-listen %s: %w", o.listen, err)
	}
	key, err := readKey(o.key)
	if err != nil {
		return err
	}
	conf := configuration(o.peers)
	sys, err := compiled(conf)
	if err != nil {
		return err
	}
	disk, err := osenv.OpenDisk(o.dir)
	if err != nil {
		return fmt.Errorf("%w; raftkv format %s makes it, once", err, o.dir)
	}
	defer disk.Close()
	tasks := osenv.NewTasks()
	defer tasks.Close()
	network := osenv.NewNetwork(osenv.NetworkOptions{})
	defer network.Close()
	world := osenv.New()
	world.Network, world.Disk = network, disk
	ro := resource.Options{Env: world, Data: "journal", Tasks: tasks, Linger: time.Millisecond, Secret: key}
	if dir := os.Getenv(distsys.TraceDir); dir != "" {
		traces, err := osenv.OpenDisk(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", distsys.TraceDir, err)
		}
		defer traces.Close()
		ro.Trace = traces
	}
	n, err := resource.Open(sys, conf, nodeOf(o.server), ro)
	if errors.Is(err, wal.ErrNone) {
		return fmt.Errorf("%w; raftkv format %s makes it, once", err, o.dir)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	if o.profile != "" {
		file, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	boxes := n.Mailboxes("net")
	f := newFront(o.server, n.Life(), boxes.Queue(value.Int(int32(o.server))), boxes.Queue(frontOf(o.server)))
	l, err := listen(o.listen, f, usual)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { f.run(ctx) })
	fmt.Printf("server %d: clients at %s, life %d\n", o.server, l.net.Addr(), n.Life())
	err = n.Run(ctx)
	if ctx.Err() != nil {
		err = nil // stopped from outside, between two steps
	}
	cancel()
	all.Wait()
	l.close()
	return err
}

// cluster runs three servers as processes on this host. The first ones listen at the
// given addresses, the others at the ports behind them.
func cluster(ctx context.Context, dir, listen, peers string) error {
	const servers = 3
	self, err := os.Executable()
	if err != nil {
		return err
	}
	clients, err := behind(listen, servers)
	if err != nil {
		return err
	}
	all, err := behind(peers, servers)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key := filepath.Join(dir, "key")
	if err := makeKey(key); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	ended := make(chan error, servers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range servers {
		data := filepath.Join(dir, nodeOf(i+1))
		if err := formatServer(data, i+1); err != nil && !errors.Is(err, wal.ErrExists) {
			return err
		}
		cmd := exec.CommandContext(ctx, self, "serve", data, "-server", strconv.Itoa(i+1), "-listen", clients[i], "-peers", strings.Join(all, ","), "-key", key)
		cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, child.Attributes()
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Start(); err != nil {
			return err
		}
		go func() { ended <- cmd.Wait() }()
	}
	var failed error
	for range servers {
		if err := <-ended; err != nil && ctx.Err() == nil && failed == nil {
			failed = fmt.Errorf("a server has ended: %w", err) // the others go on
		}
	}
	return failed
}

// behind returns n addresses: addr and the ports behind it.
func behind(addr string, n int) (out []string, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	first, err := strconv.Atoi(port)
	if err != nil || first < 1 || first+n > 65536 {
		return nil, fmt.Errorf("%s: want a port with %d behind it", addr, n-1)
	}
	for i := range n {
		out = append(out, net.JoinHostPort(host, strconv.Itoa(first+i)))
	}
	return out, nil
}
