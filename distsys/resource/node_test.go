// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/distsys/resource"
	"github.com/ashlar-dev/ashlar/distsys/tracelog"
	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/env/osenv"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
	"github.com/ashlar-dev/ashlar/tla/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The lock service of PGo's Listing 2, as the compiler would write it.
type server struct {
	network distsys.Ref
	msg     value.Value
	q       []int32
}

const (
	serverReceive distsys.Label = iota
	serverRespond
)

func (s *server) receive(tx *distsys.Tx) (distsys.Label, error) {
	msg, err := tx.Read(s.network, tx.Self())
	if err != nil {
		return 0, err
	}
	s.msg = msg
	return serverRespond, nil
}

func (s *server) respond(tx *distsys.Tx) (distsys.Label, error) {
	from := s.msg.Field("from").AsInt()
	grant := func(to int32) error { return tx.Write(s.network, value.String("grant"), value.Int(to)) }
	if s.msg.Field("type").AsString() == "lock" {
		if len(s.q) == 0 {
			if err := grant(from); err != nil {
				return 0, err
			}
		}
		s.q = append(s.q[:len(s.q):len(s.q)], from)
		return serverReceive, nil
	}
	s.q = s.q[1:]
	if len(s.q) > 0 {
		if err := grant(s.q[0]); err != nil {
			return 0, err
		}
	}
	return serverReceive, nil
}

// client asks for the lock and gives it back, rounds times; in between it
// asserts that it is alone: holder is a variable of the node.
type client struct {
	network, holder distsys.Ref
	rounds          int32
	fail            bool
}

const (
	clientAcquire distsys.Label = iota
	clientAwait
	clientRelease
)

func (s *client) say(tx *distsys.Tx, what string) error {
	return tx.Write(s.network, value.Record([]value.Field{{Name: "from", Val: tx.Self()}, {Name: "type", Val: value.String(what)}}), value.Int(0))
}

func (s *client) acquire(tx *distsys.Tx) (distsys.Label, error) {
	if s.rounds == 0 {
		return distsys.Done, nil
	}
	s.rounds--
	return clientAwait, s.say(tx, "lock")
}

func (s *client) await(tx *distsys.Tx) (distsys.Label, error) {
	if _, err := tx.Read(s.network, tx.Self()); err != nil {
		return 0, err
	}
	if err := tx.Assert(!s.fail, "~fail", "locks.tla:1:1"); err != nil {
		return 0, err
	}
	h, err := distsys.Read(tx, s.holder, distsys.Int())
	if err != nil {
		return 0, err
	}
	if err := tx.Assert(h == 0, "holder = 0", "locks.tla:2:2"); err != nil {
		return 0, err
	}
	return clientRelease, tx.Write(s.holder, tx.Self())
}

func (s *client) release(tx *distsys.Tx) (distsys.Label, error) {
	if err := tx.Write(s.holder, value.Int(0)); err != nil {
		return 0, err
	}
	return clientAcquire, s.say(tx, "unlock")
}

func system() *distsys.System {
	sc := &distsys.Archetype[server]{Name: "AServer",
		Sections: []distsys.Section[server]{{Name: "serverReceive", Run: (*server).receive}, {Name: "serverRespond", Run: (*server).respond}},
		Vars: func(s *server) []distsys.Var {
			q := make([]value.Value, len(s.q))
			for i, c := range s.q {
				q[i] = value.Int(c)
			}
			return []distsys.Var{{Name: "q", Value: value.TupleOf(q)}}
		}}
	cc := &distsys.Archetype[client]{Name: "AClient", Sections: []distsys.Section[client]{
		{Name: "acquire", Run: (*client).acquire}, {Name: "await", Run: (*client).await}, {Name: "release", Run: (*client).release}}}
	return &distsys.System{Name: "locks", Archetypes: []distsys.Template{
		{Name: "AServer", Params: []distsys.Param{{Name: "network", Ref: true, Indices: 1, Relaxed: true}},
			New: func(s distsys.Spawn) (distsys.Process, error) {
				return distsys.New(sc, s.Self, server{network: s.Ref("network")}, s.Options)
			}},
		{Name: "AClient", Params: []distsys.Param{{Name: "network", Ref: true, Indices: 1, Relaxed: true}, {Name: "holder", Ref: true}, {Name: "rounds"}, {Name: "fail"}},
			New: func(s distsys.Spawn) (distsys.Process, error) {
				return distsys.New(cc, s.Self, client{network: s.Ref("network"), holder: s.Ref("holder"),
					rounds: s.Values["rounds"].AsInt(), fail: s.Values["fail"].AsBool()}, s.Options)
			}},
	}}
}

func config(t *testing.T, mode string, rounds int, fail string) *distsys.Config {
	t.Helper()
	p, err := ports.Free(4)
	if err != nil {
		t.Fatal(err)
	}
	member := func(i int, fail string) string {
		return fmt.Sprintf(`{"archetype": "AClient", "self": %d, "refs": {"network": "net", "holder": "holder"}, "values": {"rounds": %d, "fail": %s}}`, i, rounds, fail)
	}
	c, err := distsys.LoadConfig(strings.NewReader(fmt.Sprintf(`{
		"system": "locks",
		"resources": {
			"net": {"kind": "mailboxes", "mode": %q, "capacity": 10, "at": [
				{"node": "server", "address": %q, "indices": [0]},
				{"node": "clients", "address": %q, "indices": [1, 2, 3]}]},
			"fd": {"kind": "detector", "interval": "10ms", "timeout": "100ms", "at": [
				{"node": "server", "address": %q, "indices": [0]},
				{"node": "clients", "address": %q, "indices": [1, 2, 3]}]},
			"holder": {"kind": "shared", "value": "0"}
		},
		"nodes": {
			"server": [{"archetype": "AServer", "self": 0, "refs": {"network": "net"}}],
			"clients": [%s, %s, %s]
		}}`, mode, p[0], p[1], p[2], p[3], member(1, "false"), member(2, "false"), member(3, fail))))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newEnv(t *testing.T) env.Env {
	e := osenv.New()
	n := osenv.NewNetwork(osenv.NetworkOptions{})
	t.Cleanup(func() { n.Close() })
	e.Network = n
	return e
}

func open(t *testing.T, c *distsys.Config, node string, o resource.Options) *resource.Node {
	t.Helper()
	o.Env = newEnv(t)
	n, err := resource.Open(system(), c, node, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestLockService runs two nodes to the end and reads their traces.
func TestLockService(t *testing.T) {
	for _, mode := range []string{"strict", "relaxed"} {
		t.Run(mode, func(t *testing.T) {
			const rounds = 40
			dir := t.TempDir()
			disk, err := osenv.OpenDisk(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			c := config(t, mode, rounds, "false")
			o := resource.Options{Trace: disk, Secret: []byte("sixteen bytes or more")}
			srv, cl := open(t, c, "server", o), open(t, c, "clients", o)
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- srv.Run(ctx) }()
			if err := cl.Run(ctx); err != nil {
				t.Fatal(err)
			}
			cancel()
			if err := <-served; !errors.Is(err, context.Canceled) {
				t.Errorf("the server ends with %v", err)
			}
			checkTraces(t, dir, rounds)
			if got := cl.Mailboxes("net").Metrics().Sent; got != 3*2*rounds {
				t.Errorf("the clients sent %d messages, want %d", got, 3*2*rounds)
			}
		})
	}
}

// checkTraces reads the trace files: every section is there, every message is
// read by a section that is ordered behind the one that sent it.
func checkTraces(t *testing.T, dir string, rounds int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "trace-*.jsonl"))
	if err != nil || len(names) != 4 {
		t.Fatalf("trace files: %v, %v", names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := tracelog.Parse(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Torn || f.Header.System != "locks" {
			t.Errorf("%s: torn %v, system %q", name, f.Torn, f.Header.System)
		}
		if f.Header.Archetype == "AClient" {
			if got, want := len(f.Events), 1+3*rounds+1; got != want {
				t.Errorf("%s: %d events, want %d", name, got, want)
			}
			continue
		}
		for _, e := range f.Events {
			for _, el := range e.Elements {
				if el.Op == tracelog.Read && len(e.Clock) < 2 {
					t.Errorf("%s: a message was read without its clock: %+v", name, e)
				}
			}
		}
	}
}

func TestAFailedInstanceEndsItsNode(t *testing.T) {
	c := config(t, "relaxed", 1000000, "true")
	srv, cl := open(t, c, "server", resource.Options{}), open(t, c, "clients", resource.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- srv.Run(ctx) }()
	err := cl.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "AClient(3) at await: assertion failed: ~fail (locks.tla:1:1)") {
		t.Errorf("the clients end with %v", err)
	}
	cancel()
	<-served
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*distsys.Config)
		node   string
		want   string
	}{
		{"node", func(*distsys.Config) {}, "nobody", `there is no node "nobody"; there are clients, server`},
		{"strangers", func(c *distsys.Config) { c.Resources["net"].At[0].Listen = "0.0.0.0:0" }, "server", "resource net: any host can connect to 0.0.0.0:0"},
		{"monitor", func(c *distsys.Config) { c.Resources["fd"].At[0].Indices[0] = distsys.TextOf(value.Int(9)) }, "server", "node server has no process 9 to watch"},
		{"parameter", func(c *distsys.Config) { delete(c.Nodes["server"][0].Refs, "network") }, "server", "the resource of parameter network is missing"},
		{"address", func(c *distsys.Config) { c.Resources["net"].At[0].Address = "nowhere" }, "server", "resource net: listen: address nowhere: missing port"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := config(t, "strict", 1, "false")
			c.change(conf)
			_, err := resource.Open(system(), conf, c.node, resource.Options{Env: newEnv(t)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	conf := config(t, "strict", 1, "false")
	conf.Resources["net"].At[0].Listen = "0.0.0.0:0"
	for name, o := range map[string]resource.Options{"secret": {Secret: []byte("sixteen bytes or more")}, "tls": {Authenticated: true}} {
		t.Run(name, func(t *testing.T) { open(t, conf, "server", o) })
	}
}

// TestFormatNeedsADirectory: without one there is nothing to make a journal in.
func TestFormatNeedsADirectory(t *testing.T) {
	c, err := distsys.LoadConfig(strings.NewReader(`{"system": "s", "nodes": {"n": [{"archetype": "A", "self": "1"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	sys := &distsys.System{Archetypes: []distsys.Template{{Name: "A", Crashes: true}}}
	err = resource.Format(sys, c, "n", resource.Options{Env: osenv.New()})
	if err == nil || !strings.Contains(err.Error(), `node "n" survives crashes: it needs a directory for its journal`) {
		t.Error(err)
	}
}
