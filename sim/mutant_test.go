package sim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutantsVariable has the mutants run: each is a build and a run of the tests.
const mutantsVariable = "ASHLAR_SIM_MUTANTS"

// TestMutantsAreFoundOut breaks the simulator in one place after the other:
// what it is documented to do is what its tests demand.
func TestMutantsAreFoundOut(t *testing.T) {
	if os.Getenv(mutantsVariable) == "" {
		t.Skip("set " + mutantsVariable + "=1, or run make sim: it takes minutes")
	}
	for _, m := range []struct{ name, file, old, new string }{
		{"a sync loses what was written", "fate.go", "i.pending[k].reach(&i.safe, 0, 1<<62)", "i.pending[k].reach(&i.safe, 0, 0)"},
		{"a sync loses the size", "fate.go", "i.safe.resize(i.pending[n-1].size)", "i.safe.resize(i.safe.size)"},
		{"a crash keeps all", "fate.go", "\t\ti.settle(f)\n\t\ti.now", "\t\ti.settle(all{})\n\t\ti.now"},
		{"a crash keeps what is only in memory", "fate.go", "\t\ti.now = i.safe.clone()\n\t\ti.listed", "\t\ti.listed"},
		{"a crash keeps all names", "fate.go", "[]uint64{o.n}) == 1 {", "[]uint64{o.n}) >= 0 {"},
		{"a crash moves a sector's end", "fate.go", "max(from, o.off), min(to, o.end)", "max(from, o.off), min(to, o.end-1)"},
		{"a sector gets the last operation alone", "fate.go", "i.pending[k].reach(&i.safe, s*Sector, (s+1)*Sector)", "i.pending[max(k, ops[len(ops)-1])].reach(&i.safe, s*Sector, (s+1)*Sector)"},
		{"a directory's sync does nothing", "disk.go", "\t\t\tapply(o, durable)\n", ""},
		{"a rename leaves the old name", "disk.go", "if o.from != nil && in(o.from)[o.old] == o.to {", "if o.from != nil && in(o.from)[o.old] == nil {"},
		{"a removed name comes back", "disk.go", "} else if in(o.dir)[o.name] == o.removed {", "} else if in(o.dir)[o.name] == nil {"},
		{"a truncation leaves bytes", "image.go", "im.clear(size, 1<<62)", "im.clear(size+1, 1<<62)"},
		{"a clone shares its chunks", "image.go", "im.id, im.shared = nil, true // what", "im.shared = true // what"},
		{"a clone shares its list of chunks", "image.go", "im.id, im.shared = nil, true // what", "im.id = nil // what"},
		{"a clone shares what is pending", "disk.go", "i.pending = i.pending[:len(i.pending):len(i.pending)]\n", ""},
		{"a crash up to an operation keeps the next", "fate.go", "if o.n > last {", "if o.n > last+1 {"},
		{"a lock is for all", "space.go", "if f.i.lock != nil {", "if f.i.lock != nil && f.i.lock.f == f {"},
		{"a lock is given back by who has it no more", "space.go", "if err == nil && l.f.i.lock == l {", "if err == nil {"},
		{"a lock outlives a crash", "fate.go", "\t\ti.lock = nil\n", ""},
		{"a lock outlives its holder", "node.go", "\tl.unlock()\n", ""},
		{"what is discarded stays", "space.go", "\ti.now.clear(off, end)\n", ""},
		{"a discard is durable at once", "space.go", "\ti.now.clear(off, end)\n", "\ti.now.clear(off, end)\n\ti.safe.clear(off, end)\n"},
		{"a discard is never durable", "space.go", "zero: true, size: i.now.size", "zero: false, size: i.now.size"},
		{"direct access to any place", "space.go", "off%env.DirectUnit == 0 && ", ""},
		{"direct access of any length", "space.go", "len(b)%env.DirectUnit == 0 && ", ""},
		{"direct access to any memory", "space.go", "at%env.DirectUnit == 0,", "true,"},
		{"a failed sync is silent", "volume.go", "\t\treturn fault(\"sync\", f.f.name, syscall.EIO)\n", "\t\treturn nil\n"},
		{"a full disk takes all", "volume.go", "if v.node.full > (*Life)(v).now() {", "if v.node.full > (*Life)(v).now()+1<<60 {"},
		{"a piece is lost", "stream.go", "{what: data, n: n - k, due: due}", "{what: data, n: 0, due: due}"},
		{"a reset is not told", "stream.go", "\t\te.finish(w.now, syscall.ECONNRESET)\n", ""},
		{"nobody is told of room", "stream.go", "p.full && p.state == open", "p.full && p.state == over"},
		{"writes are never given up", "stream.go", "\tcase limit <= w.now:", "\tcase limit <= w.now-1<<50:"},
		{"the end of a program is not told", "stream.go", "e.peer.push(item{what: closed, due: e.toPeer(), err: syscall.ECONNRESET})\n}\n\n// Close", "}\n\n// Close"},
		{"a machine that comes back does not answer", "node.go", "\tn.wakeOrphans()\n", ""},
		{"partitions let streams through", "stream.go", "l.blocked > 0 {\n\t\t\tif e.held", "l.blocked > 1 {\n\t\t\tif e.held"},
		{"partitions let packets through", "packets.go", "return a.way.blocked > 0 || ", "return "},
		{"a healed link forgets", "network.go", "\t\t\tw.at(w.now.Add(between(w.latency, 0, retransmit)), e.life, e)\n", ""},
		{"clogs hold nothing", "network.go", "max(depart, l.clogged)", "depart"},
		{"timers of slow clocks are early", "node.go", "\t\tfor n.local(at) < want {\n\t\t\tat++\n\t\t}\n", "\t\tat -= 1000\n"},
		{"stopped timers fire", "node.go", "func (t *timer) idle() bool { return t.over }", "func (t *timer) idle() bool { return false }"},
		{"a pause is none", "node.go", "l.busy = l.now().Add(d)\n\t}\n}", "}\n}"},
		{"the dead go on", "world.go", "\t\t\tif l.dead {\n\t\t\t\tcontinue\n\t\t\t}\n", ""},
		{"kinds share a stream", "world.go", `stream(o.Seed, "fault/"+Kind(k).String())`, `w.latency`},
		{"the hash does not see packets", "packets.go", "digest(t.k.b)", "0"},
		{"no sector goes elsewhere", "volume.go", "\t\ti.setSector(to, is[:])\n\t}\n\tw.strike(k, n, uint64(s), uint64(to))", "\t\treturn\n\t}\n\tw.strike(k, n, uint64(s), uint64(to))"},
		{"nothing is torn", "volume.go", "tear: w.strikesSilently(TearWrite)", "tear: false"},
	} {
		t.Run(m.name, func(t *testing.T) {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.old); n != 1 {
				t.Fatalf("%s has the text %d times", m.file, n)
			}
			dir := t.TempDir()
			changed := filepath.Join(dir, m.file)
			if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			whole, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {whole: changed}})
			if err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(list, overlay, 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "test", "-overlay", list, "-count=1", "-failfast", "-vet=off", "-timeout=60s",
				"-skip", "Mutants|Lock|Lenient", ".").CombinedOutput()
			switch {
			case err == nil:
				t.Error("no test has noticed")
			case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic: "):
				t.Errorf("it is not a test that fails:\n%s", out)
			default:
				for _, line := range strings.Split(string(out), "\n") {
					if strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic: ") {
						t.Log(line)
						break
					}
				}
			}
		})
	}
}
