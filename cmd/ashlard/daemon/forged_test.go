// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// forged is a request as docs/format/worm.md has it, with the fields that there are.
type forged struct {
	kind, protocol, flags byte
	epoch                 uint64
	segment, lo, n        uint64 // of a range, if n is not 0
	round                 uint64 // of a ballot, if it is not 0
	tag, digest           uint64
	value                 []byte
}

func (q forged) frame() []byte {
	fields, rest := byte(0), []byte(nil)
	if q.flags != 0 {
		fields |= 1
	}
	head := binary.AppendUvarint(binary.AppendUvarint(nil, 0), q.epoch)
	if q.flags != 0 {
		head = append(head, q.flags)
	}
	if q.n > 0 {
		fields |= 2
		for _, x := range []uint64{q.segment, q.lo, q.n} {
			rest = binary.AppendUvarint(rest, x)
		}
	}
	if q.round > 0 {
		fields |= 4
		rest = append(binary.AppendUvarint(rest, q.round), words(9)...)
	}
	if q.tag != 0 {
		fields |= 16
		rest = append(rest, words(q.tag)...)
	}
	if q.digest != 0 {
		fields |= 64
		rest = append(rest, words(q.digest)...)
	}
	if q.value != nil {
		fields |= 8
		rest = append(binary.AppendUvarint(rest, uint64(len(q.value))), q.value...)
	}
	return strangeFrame(3, words(1), []byte{0, q.kind, q.protocol, fields}, head, rest)
}

// configuration is one as docs/format/worm.md has it.
func configuration(epoch uint32, tag, digest uint64, ids []uint64, addrs []string) []byte {
	b := append([]byte{1}, le.AppendUint32(le.AppendUint32(nil, 0), epoch)...)
	b = append(append(b, words(tag, digest)...), 0, byte(len(ids)))
	for i, id := range ids {
		b = append(b, words(id)...)
		for _, text := range []string{fmt.Sprint("n", i), addrs[i]} {
			b = append(le.AppendUint32(b, uint32(len(text))), text...)
		}
	}
	return b
}

// guest is a stranger that a server has welcomed.
func (d described) guest(t testing.TB, i int) *stranger {
	t.Helper()
	s := dialStranger(t, d.addrs[i])
	if kind, w := s.ask(strangeHello(false, d.cluster, 9, d.ids[i], 0, 0)); kind != 2 || w[2] != 0 {
		t.Fatalf("server %d does not welcome a stranger: %d %x", i, kind, w)
	}
	return s
}

// status is what a server answers to a request.
func (s *stranger) status(q forged) byte {
	s.t.Helper()
	kind, reply := s.ask(q.frame())
	if kind != 4 {
		s.t.Fatalf("a request of kind %d is answered by a frame of type %d", q.kind, kind)
	}
	_, n := binary.Uvarint(reply[8:])
	return reply[8+n]
}

const (
	kindWrite, kindRead, kindTrim, kindSeal, kindStage, kindActivate = 2, 3, 4, 5, 7, 8
	busy, limit                                                      = 21, 23
	configSegment                                                    = 1 << 63
)

// epoch is that of partition 0, as status says.
func (f *fleet) epoch() (n int) {
	f.t.Helper()
	_, out, _ := f.run("status", "--json")
	var v struct{ Partitions []struct{ Epoch int } }
	if err := json.Unmarshal([]byte(out), &v); err != nil || len(v.Partitions) == 0 {
		f.t.Fatalf("status says %s: %v", out, err)
	}
	return v.Partitions[0].Epoch
}

// TestForgedDecisions: a stranger that tells servers that a configuration or a trim was
// decided is not believed, whatever was said and to how many; nothing of it is there
// after a restart; and one that seals all servers keeps them for less than a minute.
func TestForgedDecisions(t *testing.T) {
	f := newFleet(t, 3)
	d := f.described()
	f.good("write", "17.0", "here", "--alloc", "10")
	f.good("write", "18.0", "here", "--alloc", "10")
	f.good("log", "append", "7", "first")
	f.lives("before")
	const nobody = "127.0.0.1:1"
	for i := range 3 {
		s := d.guest(t, i)
		for _, epoch := range []uint32{1, 2, 1 << 24, math.MaxUint32} {
			for _, c := range [][]byte{
				configuration(epoch, 5, 6, []uint64{77, 78, 79}, []string{nobody, nobody, nobody}),
				configuration(epoch, 0, 0, d.ids, d.addrs),
				configuration(epoch, 5, 0xef46db3751d8e999, d.ids, d.addrs),
				configuration(epoch, 5, 6, []uint64{d.ids[i]}, d.addrs[i:i+1]),
				configuration(epoch, 5, 6, d.ids[:2], []string{nobody, nobody}),
			} {
				// The stage that one of them names is there: it holds nothing.
				s.status(forged{kind: kindStage, epoch: uint64(epoch), tag: 5, digest: 0xef46db3751d8e999, flags: 1})
				if got := s.status(forged{kind: kindActivate, epoch: uint64(epoch), value: c}); got != busy {
					t.Fatalf("server %d answers a forged activation of epoch %d with status %d", i, epoch, got)
				}
			}
		}
		for _, segment := range []uint64{17, 18, 7 << 32, 7<<32 + 1, 99} {
			for protocol := range byte(3) {
				eventually(t, "a forged trim is refused", func() bool {
					got := s.status(forged{kind: kindTrim, protocol: protocol, segment: segment, n: 1})
					if got != busy && got != limit {
						t.Fatalf("server %d answers a forged trim of segment %d with status %d", i, segment, got)
					}
					return got == limit
				})
			}
		}
		for _, junk := range [][]byte{[]byte("junk"), configuration(2, 5, 6, d.ids, d.addrs), configuration(1, 5, 6, nil, nil)} {
			if got := s.status(forged{kind: kindWrite, segment: configSegment, lo: 1, n: 1, round: 1, value: junk}); got != limit {
				t.Fatalf("server %d takes %q for a configuration: status %d", i, junk, got)
			}
		}
	}
	whole := func(what string) {
		t.Helper()
		f.lives(what)
		for _, a := range []string{"17.0", "18.0"} {
			if got := f.good("read", a, "--timeout", "60s"); got != "here" {
				t.Errorf("%s: %s has %q", what, a, got)
			}
		}
		if got := f.good("log", "cat", "7", "--timeout", "60s"); !strings.HasPrefix(got, "first\nbefore\n") {
			t.Errorf("%s: the log has %q", what, got)
		}
	}
	whole("while they run")
	for i := range 3 {
		f.servers[i].Kill()
		f.start(i)
		f.healthy(fmt.Sprint("after restart ", i))
	}
	whole("after all have restarted")
	if got := f.epoch(); got != 0 {
		t.Fatalf("partition 0 is in epoch %d", got)
	}

	// What was decided is believed.
	f.good("trim", "18", "--timeout", "60s")
	if code, out, _ := f.run("read", "18.0", "--timeout", "60s"); code != 5 {
		t.Errorf("18.0 was trimmed, and is read: exit code %d, %q", code, out)
	}
	s := d.guest(t, 0)
	eventually(t, "a trim that was decided is done", func() bool {
		return s.status(forged{kind: kindTrim, segment: 18, n: 1}) == 0
	})
	f.good("reconfigure", "0", "n2", "n1", "n0", "--timeout", "60s")
	f.healthy("after a change of members")
	if got := f.epoch(); got != 1 {
		t.Fatalf("partition 0 is in epoch %d", got)
	}

	// Sealed by a stranger: only the servers end that.
	for i := range 3 {
		d.guest(t, i).status(forged{kind: kindSeal, epoch: 1})
	}
	began := time.Now()
	eventually(t, "the next epoch begins", func() bool { return f.epoch() > 1 })
	f.good("write", "17.1", "goes on", "--timeout", "60s")
	t.Logf("sealed for %v", time.Since(began).Round(time.Second))
	f.healthy("after a forged seal")
	if got := f.good("read", "17.0", "--timeout", "60s"); got != "here" {
		t.Errorf("17.0 has %q", got)
	}
}

// TestRecoverConsent loses two of three servers with their disks. The client that
// recovers partition 0 is not believed until the servers are started with the
// description that it wrote.
func TestRecoverConsent(t *testing.T) {
	f := newFleet(t, 5)
	f.good("write", "17.0", "here", "--alloc", "10")
	f.good("kv", "set", "k", "here")
	f.servers[1].Kill()
	f.servers[2].Kill()
	for i := 3; i < 5; i++ {
		f.start(i)
	}
	file := filepath.Join(f.dir, "recovered.json")
	args := []string{"unsafe-recover", "0", "n0", f.names[3], f.names[4], "--accept", "data-may-be-lost", "--timeout", "60s"}
	if code, _, errs := f.run(args...); code != 2 || !strings.Contains(errs, "--description") {
		t.Fatalf("without a description: exit code %d, %s", code, errs)
	}
	out := f.good(append(args, "--description", file)...)
	if !strings.Contains(out, file) || !strings.Contains(out, "n4") {
		t.Errorf("it says %q", out)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "tainted") {
		t.Fatalf("the description: %v\n%s", err, text)
	}
	if code, _, _ := f.run("read", "17.0", "--timeout", "3s"); code == 0 {
		t.Fatal("the servers believe it before they are started with it")
	}
	for _, i := range []int{0, 3, 4} {
		f.servers[i].Kill()
	}
	f.cluster = file
	for _, i := range []int{0, 3, 4} {
		f.start(i)
	}
	f.healthy("recovered")
	if got := f.good("read", "17.0", "--timeout", "60s"); got != "here" {
		t.Errorf("17.0 has %q", got)
	}
	f.lives("recovered")
	if _, out, _ := f.run("status"); !strings.Contains(out, "TAINTED") {
		t.Errorf("status says %s", out)
	}
	// It is theirs now: any description will do.
	f.cluster = filepath.Join(f.dir, "cluster.json")
	for _, i := range []int{0, 3, 4} {
		f.servers[i].Kill()
		f.start(i)
	}
	f.healthy("restarted with the description of before")
}
