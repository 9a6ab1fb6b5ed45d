// SPDX-License-Identifier: Apache-2.0

package trunk

import (
	"bytes"
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// content is what a branch of the model has: for each key its newest change.
type content map[string]message.Seq

func (c content) Overlaps(lo, hi []byte) bool {
	for k := range c {
		if within(k, lo, hi) {
			return true
		}
	}
	return false
}

func (c content) Span(lo, hi []byte) (size int64, blocks int) {
	for k := range c {
		if within(k, lo, hi) {
			size += 100
			blocks++
		}
	}
	return size, blocks
}

func (c content) Over([]byte, []byte) message.Seq { return 0 }

// over is the keys of a branch with a tombstone.
type over struct {
	Keys
	lo, hi []byte
	seq    message.Seq
}

func (o over) Over(lo, hi []byte) message.Seq {
	if bytes.Compare(o.lo, lo) <= 0 && bytes.Compare(hi, o.hi) <= 0 {
		return o.seq
	}
	return 0
}

func within(k string, lo, hi []byte) bool {
	return k >= string(lo) && (hi == nil || k < string(hi))
}

// machine edits a Trunk and remembers what every key must lead to.
type machine struct {
	t      *testing.T
	trunk  *Trunk
	shape  Shape
	newest content
	seq    message.Seq
	id     uint64
	all    map[uint64]*Branch // not gone
}

func newMachine(t *testing.T, shape Shape) *machine {
	m := &machine{t: t, shape: shape, newest: content{}, all: map[uint64]*Branch{}}
	m.trunk = New(shape, m.next)
	return m
}

func (m *machine) next() uint64 { m.id++; return m.id }

func (m *machine) branch(c content) *Branch {
	b := &Branch{keys: c, Meta: branch.Meta{ID: m.next()}}
	b.Meta.Bytes = uint64(100 * len(c))
	b.Meta.MinSeq = message.MaxSeq
	keys := make([]string, 0, len(c))
	for k, seq := range c {
		keys = append(keys, k)
		b.Meta.MinSeq, b.Meta.MaxSeq = min(b.Meta.MinSeq, seq), max(b.Meta.MaxSeq, seq)
	}
	sort.Strings(keys)
	b.Meta.Lo, b.Meta.Hi = []byte(keys[0]), []byte(keys[len(keys)-1])
	m.all[b.Meta.ID] = b
	return b
}

func (m *machine) attach(keys []string) {
	c := content{}
	for _, k := range keys {
		m.seq++
		c[k], m.newest[k] = m.seq, m.seq
	}
	m.trunk.Attach(m.branch(c))
}

// run does a job, as a store would.
func (m *machine) run(j *Job) {
	if j.Flush {
		if !m.trunk.Flush(j) {
			m.t.Fatal("a fresh flush is refused")
		}
		return
	}
	merged := content{}
	for _, r := range j.Inputs {
		for k, seq := range r.Branch.keys.(content) {
			if within(k, j.Lo, j.Hi) {
				merged[k] = max(merged[k], seq)
			}
		}
	}
	keys := make([]string, 0, len(merged))
	for k := range merged {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var outputs []*Branch
	parts := max(j.Parts, 1)
	for i := range parts {
		part := content{}
		for _, k := range keys[i*len(keys)/parts : (i+1)*len(keys)/parts] {
			part[k] = merged[k]
		}
		if len(part) > 0 {
			outputs = append(outputs, m.branch(part))
		}
	}
	if !m.trunk.Commit(j, outputs) {
		m.t.Fatal("a fresh merge is refused")
	}
}

func (m *machine) check() {
	m.t.Helper()
	root := m.trunk.Root()
	if err := root.Validate(); err != nil {
		m.t.Fatal(err)
	}
	for _, b := range m.trunk.Gone() {
		if m.all[b.Meta.ID] != b {
			m.t.Fatalf("branch %d is gone twice", b.Meta.ID)
		}
		delete(m.all, b.Meta.ID)
	}
	used := 0
	root.Branches(func(b *Branch) {
		used++
		if m.all[b.Meta.ID] != b {
			m.t.Fatalf("the tree refers to branch %d, which is gone", b.Meta.ID)
		}
	})
	if used != len(m.all) {
		m.t.Fatalf("%d branches are not gone, the tree refers to %d", len(m.all), used)
	}
	for k, want := range m.newest {
		var got message.Seq
		root.Find([]byte(k), func(r Ref) bool {
			got = r.Branch.keys.(content)[k]
			return got == 0
		})
		if got != want {
			m.t.Fatalf("key %s leads to change %d, want %d", k, got, want)
		}
		p := root.At([]byte(k))
		if !within(k, p.Lo, p.Hi) || len(p.Refs) != len(root.Path([]byte(k), nil)) {
			m.t.Fatalf("the partition of %s is [%q, %q) with %d references", k, p.Lo, p.Hi, len(p.Refs))
		}
	}
	m.checkPartitions(root)
}

// checkPartitions walks over the partitions in both directions.
func (m *machine) checkPartitions(root *Node) {
	var forward [][]byte
	for p := root.At(nil); ; p = root.At(p.Hi) {
		forward = append(forward, p.Lo)
		if p.Hi == nil {
			break
		}
	}
	i := len(forward)
	for p := root.Before(nil); ; p = root.Before(p.Lo) {
		i--
		if i < 0 || !bytes.Equal(p.Lo, forward[i]) {
			m.t.Fatalf("backwards, partition %d begins at %q", i, p.Lo)
		}
		if len(p.Lo) == 0 {
			break
		}
	}
	if i != 0 {
		m.t.Fatalf("%d partitions are not found backwards", i)
	}
}

func TestEveryKeyLeadsToItsNewestChange(t *testing.T) {
	levels := 0
	for seed := range int64(8) {
		r := rand.New(rand.NewSource(seed))
		m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1000, Runs: 3})
		policy := Policy{Alpha: 1}
		for range 60 {
			switch r.Intn(4) {
			case 0: // a run of neighbours
				from := r.Intn(2000)
				var keys []string
				for i := range 1 + r.Intn(30) {
					keys = append(keys, fmt.Sprintf("k%04d", from+i))
				}
				m.attach(keys)
			default:
				var keys []string
				for range 1 + r.Intn(40) {
					keys = append(keys, fmt.Sprintf("k%04d", r.Intn(2000)))
				}
				m.attach(keys)
			}
			m.check()
			for range r.Intn(5) {
				if j := m.trunk.Next(policy); j != nil {
					m.run(j)
					m.check()
				}
			}
		}
		for j := m.trunk.Next(policy); j != nil; j = m.trunk.Next(policy) {
			m.run(j)
			m.check()
		}
		if debt := m.trunk.Debt(policy); debt != 0 {
			t.Errorf("debt of %d with nothing to do", debt)
		}
		levels = max(levels, m.trunk.Root().Level)
		for j := m.trunk.Range(nil, nil, Policy{}); j != nil; j = m.trunk.Range(nil, nil, Policy{}) {
			m.run(j)
			m.check()
		}
		if n := m.trunk.Runs(); n > 1 {
			t.Errorf("after merging everything a read asks %d branches", n)
		}
	}
	if levels < 2 {
		t.Errorf("no tree has had more than %d levels", levels+1)
	}
}

func TestSortedInputIsNotMerged(t *testing.T) {
	m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1000, Runs: 3})
	for i := range 50 {
		var keys []string
		for k := range 12 {
			keys = append(keys, fmt.Sprintf("k%05d", i*12+k))
		}
		m.attach(keys)
		m.check()
		for j := m.trunk.Next(Policy{Alpha: 0.1}); j != nil; j = m.trunk.Next(Policy{Alpha: 0.1}) {
			if !j.Flush {
				t.Fatalf("after %d sorted branches there is something to merge: %+v", i+1, j)
			}
			m.run(j)
		}
	}
	if n := m.trunk.Runs(); n != 1 {
		t.Errorf("a read asks %d branches", n)
	}
}

func TestStaleJobsAreRefused(t *testing.T) {
	m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1000, Runs: 2})
	m.attach([]string{"a", "b", "c"})
	m.attach([]string{"a", "d"})
	j := m.trunk.Range(nil, nil, Policy{})
	if j == nil {
		t.Fatal("two branches are not to be merged")
	}
	m.attach([]string{"b"}) // newer ones may come meanwhile
	merged := m.branch(content{"a": 4, "b": 2, "c": 3, "d": 5})
	if !m.trunk.Commit(j, []*Branch{merged}) {
		t.Fatal("a merge is refused because something newer came")
	}
	m.check()
	if m.trunk.Commit(j, []*Branch{merged}) {
		t.Error("the same merge is taken twice")
	}
	m.check()
}

func TestARangeTombstoneSparesReading(t *testing.T) {
	m := newMachine(t, Shape{Fanout: 32, LeafBytes: 300, Runs: 3})
	for i := range 20 {
		m.attach([]string{fmt.Sprintf("k%02d", i), fmt.Sprintf("k%02d", 40-i)})
	}
	for j := m.trunk.Next(Policy{Alpha: 1}); j != nil; j = m.trunk.Next(Policy{Alpha: 1}) {
		m.run(j)
	}
	before := m.trunk.Root().At([]byte("k10"))
	if before.Lo == nil || before.Hi == nil {
		t.Fatalf("the partition is [%q, %q), want one in the middle", before.Lo, before.Hi)
	}
	m.seq++
	b := m.branch(content{string(before.Lo): m.seq})
	b.keys, b.tombstones, b.firstTombstone = over{b.keys, before.Lo, before.Hi, m.seq}, 1, m.seq
	m.trunk.Attach(b)
	j := m.trunk.Next(Policy{Alpha: 1})
	if j == nil || len(j.Inputs) != 1 || j.Inputs[0].Branch != b || len(j.Covered) != len(before.Refs) || !j.Bottom {
		t.Fatalf("the work is %+v, want the tombstone alone", j)
	}
	if j := m.trunk.Next(Policy{Alpha: 1, Snapshots: true}); j != nil && len(j.Covered) > 0 {
		t.Error("a snapshot still needs what is covered")
	}
	if !m.trunk.Commit(j, nil) {
		t.Fatal("the merge is refused")
	}
	if err := m.trunk.Root().Validate(); err != nil {
		t.Error(err)
	}
}

// source gives back what was encoded.
type source struct {
	nodes    map[uint64][]byte
	branches map[uint64]*Branch
}

func (s source) Node(id uint64) ([]byte, bool)    { b, ok := s.nodes[id]; return b, ok }
func (s source) Branch(id uint64) (*Branch, bool) { b, ok := s.branches[id]; return b, ok }

func encoded(root *Node) source {
	s := source{nodes: map[uint64][]byte{}, branches: map[uint64]*Branch{}}
	root.Walk(func(n *Node, _ int, _, _ []byte) { s.nodes[n.ID] = n.Append(nil) })
	root.Branches(func(b *Branch) { s.branches[b.Meta.ID] = b })
	return s
}

func grown(t *testing.T) *machine {
	r := rand.New(rand.NewSource(1))
	m := newMachine(t, Shape{Fanout: 4, LeafBytes: 500, Runs: 3})
	for range 60 {
		var keys []string
		for range 20 {
			keys = append(keys, fmt.Sprintf("k%04d", r.Intn(2000)))
		}
		m.attach(keys)
		for j := m.trunk.Next(Policy{Alpha: 1}); j != nil; j = m.trunk.Next(Policy{Alpha: 1}) {
			m.run(j)
		}
	}
	m.check()
	return m
}

func TestNodesComeBack(t *testing.T) {
	m := grown(t)
	root := m.trunk.Root()
	s := encoded(root)
	back, err := Decode(root.ID, s)
	if err != nil {
		t.Fatal(err)
	}
	again := encoded(back)
	for id, body := range s.nodes {
		if !bytes.Equal(body, again.nodes[id]) {
			t.Errorf("node %d is not what it was", id)
		}
		for cut := range body {
			s.nodes[id] = body[:cut]
			if _, err := Decode(root.ID, s); err == nil {
				t.Fatalf("node %d was read from %d of %d bytes", id, cut, len(body))
			}
		}
		s.nodes[id] = body
	}
	m.trunk = Load(m.shape, m.next, back)
	m.check()
}

func FuzzDecode(f *testing.F) {
	m := grown(&testing.T{})
	root := m.trunk.Root()
	s := encoded(root)
	for id, body := range s.nodes {
		f.Add(id, body)
	}
	f.Fuzz(func(t *testing.T, id uint64, body []byte) {
		nodes := map[uint64][]byte{}
		for k, v := range s.nodes {
			nodes[k] = v
		}
		nodes[id] = body
		if n, err := Decode(root.ID, source{nodes, s.branches}); err == nil {
			if err := n.Validate(); err != nil {
				t.Errorf("decoded what is not valid: %v", err)
			}
		}
	})
}

// A pivot that is joined with its neighbour on the right has what both had.
func TestJoinedBytes(t *testing.T) {
	m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1600, Runs: 2})
	keys := func(prefix string, n int) []string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%s%d", prefix, i))
		}
		return all
	}
	m.attach(keys("a", 9))
	m.attach(keys("b", 9))
	shrink := func(pivot, n int, prefix string) {
		p, hi := m.trunk.Root().Pivots[pivot], []byte(nil)
		if pivot+1 < len(m.trunk.Root().Pivots) {
			hi = m.trunk.Root().Pivots[pivot+1].Lo
		}
		out := content{}
		for _, k := range keys(prefix, n) {
			out[k] = m.newest[k]
		}
		if !m.trunk.Commit(&Job{Lo: p.Lo, Hi: hi, Inputs: p.Refs, Bottom: true}, []*Branch{m.branch(out)}) {
			t.Fatal("refused")
		}
	}
	shrink(1, 5, "b")
	if n := len(m.trunk.Root().Pivots); n != 2 {
		t.Fatalf("%d pivots", n)
	}
	shrink(0, 2, "a")
	pivots := m.trunk.Root().Pivots
	if len(pivots) != 1 || len(pivots[0].Refs) != 2 {
		t.Fatalf("not joined: %+v", pivots)
	}
	var sum int64
	for _, r := range pivots[0].Refs {
		sum += r.Bytes
	}
	if sum != 700 {
		t.Errorf("%d bytes, want 700", sum)
	}
}

// Without room no merge is chosen that gives back nothing, and of the others none
// is hidden behind one.
func TestTightPolicies(t *testing.T) {
	hidden := 0
	for seed := range int64(4) {
		r := rand.New(rand.NewSource(seed))
		m := newMachine(t, Shape{Fanout: 4, LeafBytes: 1000, Runs: 3})
		loose, tight := Policy{Alpha: 1}, Policy{Alpha: 1, Tight: true}
		for range 100 {
			from, keys := r.Intn(2000), []string(nil)
			for range 1 + r.Intn(8) {
				keys = append(keys, fmt.Sprintf("k%04d", (from+r.Intn(400))%2000))
			}
			m.attach(keys)
			m.check()
			a, b := m.trunk.Next(loose), m.trunk.Next(tight)
			switch {
			case b != nil && !b.Flush && !b.Bottom:
				t.Fatalf("without room the next job is %+v", b)
			case a != nil && (a.Flush || a.Bottom) && b == nil:
				t.Fatalf("without room %+v is not made", a)
			case a != nil && !a.Flush && !a.Bottom && b != nil:
				hidden++
			}
			if j := []*Job{a, b}[r.Intn(2)]; j != nil && r.Intn(4) > 0 {
				m.run(j)
				m.check()
			}
		}
	}
	if hidden == 0 {
		t.Error("no merge that gives back space was behind one that does not")
	}
}
