// SPDX-License-Identifier: Apache-2.0

package tx

import (
	"fmt"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/ideal"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// cluster is a key-value store on ideal registers.
type cluster struct {
	t       testing.TB
	w       *ideal.World
	servers []*server
	members []wor.Member
	opt     KVOptions
	parts   int
	// outcomes are those that any process has learned.
	outcomes map[ID]bool
	failed   error
	log      func(server int, e env.Event)
}

type server struct {
	p  *ideal.Process
	kv *KV
}

func newCluster(t testing.TB, o ideal.Options, servers, parts int, opt KVOptions) *cluster {
	c := &cluster{t: t, w: ideal.New(o), opt: opt, parts: parts, outcomes: map[ID]bool{}}
	for i := range servers {
		p := c.w.Start(fmt.Sprint("s", i))
		c.servers = append(c.servers, &server{p: p})
		c.members = append(c.members, p.Member)
	}
	for i := range servers {
		c.boot(i)
	}
	return c
}

// tracer compares the outcomes that processes learn.
type tracer struct {
	c      *cluster
	server int
}

func (t tracer) Trace(e env.Event) {
	if t.c.log != nil {
		t.c.log(t.server, e)
	}
	if e, ok := e.(Learned); ok {
		if was, known := t.c.outcomes[e.ID]; known && was != e.Commit && t.c.failed == nil {
			t.c.failed = fmt.Errorf("AC1: %v was learned as commit=%v, and by RM %d as %v", e.ID, was, e.RM, e.Commit)
		}
		t.c.outcomes[e.ID] = e.Commit
	}
}

// small returns options with which everything happens often.
func small() KVOptions {
	return KVOptions{
		Engine:    Options{Instance: 1, SegmentSize: 64, Partitions: 2, ResolveAfter: 20 * time.Millisecond},
		PingEvery: 50 * time.Millisecond, FailAfter: 400 * time.Millisecond,
	}
}

func (c *cluster) boot(i int) {
	s := c.servers[i]
	o := c.opt
	s.p.Env.Tracer = tracer{c, i}
	o.Engine.Serial = s.p.Serial
	o.Engine.Env, o.Engine.Space, o.Engine.Messenger = s.p.Env, s.p.Space, s.p.Messenger
	o.Engine.Self, o.Engine.RMs, o.Servers = s.p.Member, c.parts, c.members
	kv, err := NewKV(o)
	if err != nil {
		c.t.Fatal(err)
	}
	s.kv = kv
	s.p.Serve(wor.ServiceTx, kv.HandleTx)
	s.p.Serve(wor.ServiceKV, kv.HandleKV)
}

func (c *cluster) kill(i int) { c.servers[i].p.Kill() }

func (c *cluster) restart(i int) {
	c.servers[i].p.Kill()
	c.servers[i].p = c.w.Start(fmt.Sprint("s", i))
	c.boot(i)
}

// client starts a process with a Client.
func (c *cluster) client(name string) (*ideal.Process, *Client) {
	p := c.w.Start(name)
	return p, NewClient(ClientOptions{Env: p.Env, Serial: p.Serial, Messenger: p.Messenger, Servers: c.members, Partitions: c.parts, Nonce: p.Space.Nonce()})
}

// do sends a request and waits.
func (c *cluster) do(cl *Client, q *Request) (*Result, error) {
	c.t.Helper()
	var r *Result
	var err error
	done := false
	cl.Do(q, 0, func(x *Result, e error) { r, err, done = x, e, true })
	if !c.w.RunUntil(30*time.Second, func() bool { return done }) {
		c.t.Fatalf("request never answered: %+v", q)
	}
	return r, err
}

func get(k string) Op           { return Op{Kind: OpGet, Key: k} }
func put(k, v string) Op        { return Op{Kind: OpPut, Key: k, Value: []byte(v)} }
func del(k string) Op           { return Op{Kind: OpDelete, Key: k} }
func incr(k string, d int64) Op { return Op{Kind: OpIncr, Key: k, Delta: d} }
func add(k, v string) Op        { return Op{Kind: OpAppend, Key: k, Value: []byte(v)} }
func txn_(ops ...Op) *Request   { return &Request{Ops: ops} }
func show(r *Result) (s string) {
	if !r.Held {
		return "not held"
	}
	for _, o := range r.Ops {
		s += fmt.Sprintf("[%v %v %v %q %d]", int(o.Err), o.Done, o.Found, o.Value, o.Number)
	}
	return s
}

func TestStore(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 1}, 3, 4, small())
	_, cl := c.client("client")
	for _, step := range []struct {
		q    *Request
		want string
	}{
		{txn_(get("a")), `[0 true false "" 0]`},
		{txn_(put("a", "1")), `[0 true false "" 0]`},
		{txn_(get("a")), `[0 true true "1" 0]`},
		{txn_(put("a", "2"), put("b", "3"), put("c", "4"), get("a"), get("d")), `[0 true true "" 0][0 true false "" 0][0 true false "" 0][0 true true "2" 0][0 true false "" 0]`},
		{txn_(get("a"), get("b"), get("c"), get("d")), `[0 true true "2" 0][0 true true "3" 0][0 true true "4" 0][0 true false "" 0]`},
		{txn_(incr("a", 5), incr("n", -1)), `[0 true true "" 7][0 true false "" -1]`},
		{txn_(incr("a", 1<<62), incr("a", 1<<62)), `[0 true true "" 4611686018427387911][2 false true "" 0]`},
		{txn_(add("b", "xy"), incr("b", 1)), `[0 true true "" 3][1 false true "" 0]`},
		{&Request{Conds: []Cond{{Kind: CondAbsent, Key: "a"}}, Ops: []Op{put("z", "1")}}, "not held"},
		{&Request{Conds: []Cond{{Kind: CondValue, Key: "c", Value: []byte("4")}}, Ops: []Op{del("c"), del("q")}}, `[0 true true "" 0][0 true false "" 0]`},
		{txn_(get("c"), get("z")), `[0 true false "" 0][0 true false "" 0]`},
		{txn_(Op{Kind: OpPut, When: IfAbsent, Key: "a", Value: []byte("no")}, Op{Kind: OpPut, When: IfPresent, Key: "c"}), `[0 false true "" 0][0 false false "" 0]`},
	} {
		r, err := c.do(cl, step.q)
		if err != nil {
			t.Fatalf("%+v: %v", step.q, err)
		}
		if got := show(r); got != step.want {
			t.Errorf("%+v:\n got %s\nwant %s", step.q.Ops, got, step.want)
		}
	}
}

// TestVersions uses conditions on versions. A version changes with each write; that of an
// absent key changes with each removal.
func TestVersions(t *testing.T) {
	c := newCluster(t, ideal.Options{Seed: 2}, 3, 4, small())
	_, cl := c.client("client")
	for _, key := range []string{"a", "b"} {
		for _, change := range []Op{put(key, "1"), put(key, "1"), del(key), put(key, "2")} {
			r, err := c.do(cl, txn_(get(key)))
			if err != nil {
				t.Fatal(err)
			}
			q := &Request{Conds: []Cond{{Kind: CondVersion, Key: key, Version: r.Ops[0].Version}}, Ops: []Op{incr("n", 1)}}
			if r, err = c.do(cl, q); err != nil || !r.Held {
				t.Errorf("unchanged: %v %v", r, err)
			}
			if _, err = c.do(cl, txn_(change)); err != nil {
				t.Fatal(err)
			}
			q = &Request{Conds: q.Conds, Ops: []Op{incr("m", 1)}}
			if r, err = c.do(cl, q); err != nil || r.Held {
				t.Errorf("after %+v the version is the same: %v", change, err)
			}
		}
	}
	r, err := c.do(cl, txn_(get("z")))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []Op{put("z", "1"), del("z")} {
		if _, err = c.do(cl, txn_(change)); err != nil {
			t.Fatal(err)
		}
	}
	q := &Request{Conds: []Cond{{Kind: CondVersion, Key: "z", Version: r.Ops[0].Version}}, Ops: []Op{incr("m", 1)}}
	if r, err = c.do(cl, q); err != nil || r.Held {
		t.Errorf("a key that was there for a while has the same version: %v", err)
	}
	if r, err := c.do(cl, txn_(get("n"), get("m"))); err != nil || show(r) != `[0 true true "8" 0][0 true false "" 0]` {
		t.Errorf("%v %v", show(r), err)
	}
}
