// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/internal/evidence/procs"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// What strangers say is made here from docs/format/worm.md, and of nothing that the
// servers are made of; whether the cluster lives is asked by its own commands.

// stranger is a connection to a server, by anybody.
type stranger struct {
	t    testing.TB
	conn net.Conn
}

// described is what a stranger reads in any client's cluster.json.
type described struct {
	cluster uint64
	ids     []uint64
	addrs   []string
}

func (f *fleet) described() (d described) {
	f.t.Helper()
	text, err := os.ReadFile(f.cluster)
	if err != nil {
		f.t.Fatal(err)
	}
	var v struct {
		Cluster    string
		Partitions []struct{ Members []struct{ ID, Addr string } }
	}
	if err := json.Unmarshal(text, &v); err != nil {
		f.t.Fatal(err)
	}
	hex := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			f.t.Fatal(err)
		}
		return n
	}
	d.cluster = hex(v.Cluster)
	for _, m := range v.Partitions[0].Members {
		d.ids, d.addrs = append(d.ids, hex(m.ID)), append(d.addrs, m.Addr)
	}
	return d
}

var le = binary.LittleEndian

// strangeFrame is a frame of any payload.
func strangeFrame(kind byte, payload ...[]byte) []byte {
	body := bytes.Join(payload, nil)
	b := le.AppendUint32(nil, uint32(len(body)+6))
	b = append(append(b, 1, kind), body...)
	return le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func words(n ...uint64) (b []byte) {
	for _, x := range n {
		b = le.AppendUint64(b, x)
	}
	return b
}

// strangeHello claims to come from a peer that has seen a server somewhere.
func strangeHello(peer bool, cluster, from, to, generation, position uint64) []byte {
	flags := byte(0)
	if peer {
		flags = 1
	}
	return strangeFrame(1, []byte{1, 0, flags}, words(cluster, from, to, generation, position))
}

func strangeInvoke(service uint16, payload []byte) []byte {
	return strangeFrame(6, words(1), []byte{0}, le.AppendUint16(nil, service), payload)
}

// strangeRequest is one with a value, or without if that is nil, of partition 0.
func strangeRequest(kind, protocol byte, epoch uint64, segment uint64, lo, n uint64, value []byte) []byte {
	fields := byte(0)
	var rest []byte
	if n > 0 {
		fields |= 2
		for _, x := range []uint64{segment, lo, n} {
			rest = binary.AppendUvarint(rest, x)
		}
	}
	if value != nil {
		fields |= 8
		rest = append(binary.AppendUvarint(rest, uint64(len(value))), value...)
	}
	return strangeFrame(3, words(1), []byte{0, kind, protocol, fields, 0}, binary.AppendUvarint(nil, epoch), rest)
}

// dialStranger connects to a server.
func dialStranger(t testing.TB, addr string) *stranger {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &stranger{t, c}
}

// ask says something and answers the next frame's type and payload; none where the
// server has ended the connection.
func (s *stranger) ask(frame []byte) (kind byte, payload []byte) {
	s.t.Helper()
	if _, err := s.conn.Write(frame); err != nil {
		return 0, nil
	}
	head := make([]byte, 6)
	if _, err := io.ReadFull(s.conn, head); err != nil {
		return 0, nil
	}
	rest := make([]byte, le.Uint32(head)-2)
	if _, err := io.ReadFull(s.conn, rest); err != nil {
		return 0, nil
	}
	return head[5], rest[:len(rest)-4]
}

// lives has the cluster do everything, through its commands.
func (f *fleet) lives(what string) {
	f.t.Helper()
	f.good("kv", "set", "k", what, "--timeout", "60s")
	if got := f.good("kv", "get", "k", "--timeout", "60s"); got != what {
		f.t.Fatalf("%s: the key has %q", what, got)
	}
	f.good("log", "append", "7", what, "--timeout", "60s")
	f.healthy(what)
}

// healthy waits until all servers serve.
func (f *fleet) healthy(what string) {
	f.t.Helper()
	var out string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		code := 0
		if code, out, _ = f.run("status"); code == 0 && strings.Contains(out, "3 of 3 servers serve") {
			return
		}
	}
	f.t.Fatalf("%s: not all servers serve:\n%s", what, out)
}

// TestClaimsOfStrangers: whatever anybody claims to have seen of servers, as a client
// or as a server that it is not, the cluster goes on, also after all have restarted.
func TestClaimsOfStrangers(t *testing.T) {
	f := newFleet(t, 3)
	d := f.described()
	f.lives("before")
	_, own, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	const far = 1 << 40
	for i, addr := range d.addrs {
		for _, position := range []uint64{0, far, math.MaxUint64} {
			for _, generation := range []uint64{far, math.MaxUint64} {
				dialStranger(t, addr).ask(strangeHello(false, d.cluster, 9, d.ids[i], generation, position))
				dialStranger(t, addr).ask(strangeHello(true, d.cluster, d.ids[(i+1)%3], d.ids[i], generation, position))
			}
		}
		// False peers: each other server is said to be far ahead.
		for j := range 3 {
			old := append([]byte{1}, words(d.ids[j], far, 7, far)...)
			report := append([]byte{3}, words(far, 7, far, 0, 0, 0)...)
			text := append(le.AppendUint64([]byte("ashlar worm report"), d.cluster), report...)
			keyed := append(slices.Clone(report), own.Public().(ed25519.PublicKey)...)
			signed := append(slices.Clone(keyed), ed25519.Sign(own, text)...)
			for what, payload := range map[string][]byte{"an old form": old, "no signature": report, "an empty signature": append(slices.Clone(keyed), make([]byte, ed25519.SignatureSize)...),
				"its own signature": signed, "a signature of something else": append(slices.Clone(signed), signed...)} {
				s := dialStranger(t, addr)
				if kind, w := s.ask(strangeHello(true, d.cluster, d.ids[j], d.ids[i], 0, 0)); kind != 2 || w[2] != 0 {
					t.Fatalf("server %d does not welcome a stranger: %d %x", i, kind, w)
				}
				// What a stranger says of itself is answered; all else ends the connection.
				want := byte(0)
				if what == "its own signature" {
					want = 7
				}
				if kind, _ := s.ask(strangeInvoke(5, payload)); kind != want {
					t.Fatalf("server %d, a report with %s: frame %d, want %d", i, what, kind, want)
				}
			}
		}
	}
	f.lives("while they run")
	for i := range 3 {
		if code := f.servers[i].Stop(); code != 0 {
			t.Errorf("server %d: exit code %d", i, code)
		}
		if errs := f.servers[i].Errs(); strings.Contains(errs, "MUTE") {
			t.Errorf("server %d was muted by strangers:\n%s", i, errs)
		}
		if f.servers[i].Truncated() {
			t.Errorf("server %d has printed so much that it is not known whether it was mute", i)
		}
		f.start(i)
		f.healthy(fmt.Sprint("after restart ", i))
	}
	f.lives("after all have restarted")
}

// backup copies the directories of a stopped cluster, or puts the copies back.
func (f *fleet) backup(t *testing.T, from, to func(int) string) {
	t.Helper()
	for i := range 3 {
		if err := os.RemoveAll(to(i)); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to(i), os.DirFS(from(i))); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fleet) stopAll(t *testing.T) {
	for _, s := range f.servers[:3] {
		s.Kill()
	}
}

func (f *fleet) startAll() {
	for i := range 3 {
		f.start(i)
	}
}

// tailing is a follower, a process of its own.
func (f *fleet) tailing(t *testing.T, has string) *procs.Process {
	t.Helper()
	p := procs.Start(t, self(t, "log", "cat", "7", "--follow", "--timeout", "0", "--cluster", f.cluster))
	eventually(t, "the follower has "+has, func() bool { return strings.Contains(p.Out(), has) })
	return p
}

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what + ": not within a minute")
		}
	}
}

// TestRestore puts back a backup of all servers with a follower connected. With the
// description of before, no server is muted by the follower; with the one that restore
// writes, the follower is told and ends, and the cluster goes on from the backup.
func TestRestore(t *testing.T) {
	f := newFleet(t, 4)
	saved := func(i int) string { return filepath.Join(f.dir, fmt.Sprint("saved", i)) }
	f.good("log", "append", "7", "kept")
	f.good("kv", "set", "k", "kept")
	f.stopAll(t)
	f.backup(t, f.path, saved)
	f.startAll()
	f.good("log", "append", "7", "lost", "--timeout", "60s")
	f.good("kv", "set", "k", "lost", "--timeout", "60s")
	follower := f.tailing(t, "lost\n")

	f.stopAll(t)
	f.backup(t, saved, f.path)
	f.startAll()
	f.healthy("put back without a restore")
	f.stopAll(t)
	f.backup(t, saved, f.path)

	restored := filepath.Join(f.dir, "restored.json")
	if err := os.WriteFile(restored, []byte(f.good("restore")), 0o600); err != nil {
		t.Fatal(err)
	}
	before := f.cluster
	f.cluster = restored
	f.startAll()
	f.healthy("restored")
	if got := f.good("log", "cat", "7", "--timeout", "60s"); got != "kept\n" {
		t.Errorf("the restored log has %q", got)
	}
	if got := f.good("kv", "get", "k", "--timeout", "60s"); got != "kept" {
		t.Errorf("the restored key has %q", got)
	}
	if code := follower.Wait(); code == 0 || !strings.Contains(follower.Errs(), "restored from a backup") {
		t.Errorf("the follower ended with exit code %d", code)
	}
	if strings.Count(follower.Out(), "\n") != 2 {
		t.Errorf("the follower read %q", follower.Out())
	}
	if code, _, errs := run(t, "log", "append", "7", "x", "--cluster", before, "--timeout", "60s"); code == 0 || !strings.Contains(errs, "restored from a backup") {
		t.Errorf("with the description of before: exit code %d, %s", code, errs)
	}
	f.lives("after the restore")
	for i := range 3 {
		f.servers[i].Kill()
		f.start(i)
		f.healthy("restarted after the restore")
	}
	// A server of the restored cluster does not go back.
	f.servers[0].Kill()
	if code, _, errs := run(t, "serve", f.path(0), "--cluster", before, "--listen", f.addr(0)); code != 1 || !strings.Contains(errs, "another cluster") {
		t.Errorf("served with the description of before: exit code %d, %s", code, errs)
	}
	// One server that is put back is found out by the others, and is replaced.
	f.start(0)
	f.lives("again")
	f.servers[2].Kill()
	if err := os.RemoveAll(f.path(2)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(f.path(2), os.DirFS(saved(2))); err != nil {
		t.Fatal(err)
	}
	f.start(2)
	eventually(t, "it finds out", func() bool { return strings.Contains(f.servers[2].Errs(), "MUTE: the disk is an old copy") })
	f.servers[2].Kill()
	f.start(3)
	f.good("replace", "n2", "--with", f.names[3], "--timeout", "60s")
	f.lives("replaced")
}

// TestWrongProtocols: a client that writes a segment by another protocol than its metadata
// name is refused where the metadata are known; where they came later, the next change
// of members goes through, by what the metadata say.
func TestWrongProtocols(t *testing.T) {
	f := newFleet(t, 4)
	d := f.described()
	f.good("write", "17.0", "known", "--alloc", "10")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := f.client(nil).Alloc(ctx, 16, wor.Meta{Size: 10}); err != nil {
		t.Fatal(err)
	}
	write := func(i int, protocol byte, segment, offset uint64) (status byte) {
		s := dialStranger(t, d.addrs[i])
		if kind, w := s.ask(strangeHello(false, d.cluster, 9, d.ids[i], 0, 0)); kind != 2 || w[2] != 0 {
			t.Fatalf("not welcome: %d %x", kind, w)
		}
		kind, reply := s.ask(strangeRequest(2, protocol, 0, segment, offset, 1, []byte("strange")))
		if kind != 4 {
			t.Fatalf("a write is answered by a frame of type %d", kind)
		}
		_, n := binary.Uvarint(reply[8:])
		return reply[8+n]
	}
	const limit = 23
	refused := 0
	for i := range 3 {
		if write(i, 1, 16, 3) == limit && write(i, 2, 16, 3) == limit {
			refused++
		}
	}
	if refused < 2 {
		t.Errorf("%d servers refuse writes by other protocols than the metadata name, of which a majority has them", refused)
	}
	// Before there are metadata, no server can know.
	for segment := uint64(18); segment < 24; segment++ {
		for offset := range uint64(3) {
			if status := write(int(segment%3), byte(1+segment%2), segment, offset); status != 0 {
				t.Fatalf("segment %d on server %d: status %d", segment, segment%3, status)
			}
		}
		if segment < 22 { // the last ones are never allocated
			f.good("write", fmt.Sprint(segment, ".1"), "right", "--alloc", "10", "--timeout", "60s")
		}
	}
	f.lives("before")
	for _, args := range [][]string{{"reconfigure", "0", "n0", "n1", "n2"}, {"reconfigure", "0", "n2", "n1", "n0"}} {
		f.good(append(args, "--timeout", "60s")...)
		f.lives("after " + strings.Join(args, " "))
		for segment := 18; segment < 22; segment++ {
			if got := f.good("read", fmt.Sprint(segment, ".1"), "--timeout", "60s"); got != "right" {
				t.Errorf("%d.1 has %q", segment, got)
			}
			if code, out, _ := f.run("read", fmt.Sprint(segment, ".2"), "--timeout", "60s"); code != 5 {
				t.Errorf("%d.2: exit code %d, %q", segment, code, out)
			}
		}
		if got := f.good("read", "17.0"); got != "known" {
			t.Errorf("17.0 has %q", got)
		}
	}
	// A change to servers that are not there seals nothing.
	f.servers[2].Kill()
	if code, _, errs := f.run("reconfigure", "0", "n0", "n1=77@127.0.0.1:1", "n3=78@127.0.0.1:2", "--timeout", "60s"); code != 3 || !strings.Contains(errs, "answer") {
		t.Errorf("a change to servers that are not there: exit code %d, %s", code, errs)
	}
	f.good("write", "17.2", "goes on", "--timeout", "5s")
}

// TestFullMemory fills the memory of all servers with a log. Appends are refused at
// once, and say why; keys can be read, also after all servers have restarted; and
// trimming the log makes room.
func TestFullMemory(t *testing.T) {
	f := newFleet(t, 3, "--memory", "24M")
	for i := range 8 {
		f.good("kv", "set", fmt.Sprint("k", i), "v")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l, err := f.client(nil).Log(ctx, 7, worm.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	entry := make([]byte, 512<<10)
	appended, last := 0, log.Position(0)
	for {
		at, err := l.Append(ctx, entry)
		if err != nil {
			if !strings.Contains(err.Error(), "MaxBytes") || !errors.Is(err, wor.ErrLimit) || ctx.Err() != nil {
				t.Fatalf("append %d: %v", appended, err)
			}
			break
		}
		appended, last = appended+1, at
	}
	if appended < 20 {
		t.Errorf("only %d entries of half a MiB were taken", appended)
	}
	// Smaller ones, until nothing but the reserve is left.
	for n := 256 << 10; n >= 256; n /= 2 {
		for began := time.Now(); ; {
			_, err := l.Append(ctx, entry[:n])
			if err != nil && !errors.Is(err, wor.ErrLimit) {
				t.Fatalf("append of %d bytes: %v", n, err)
			}
			if err != nil && time.Since(began) > 600*time.Millisecond { // longer than it remembers the last one
				break
			}
		}
	}
	refused := func(args ...string) {
		t.Helper()
		if code, _, errs := f.run(append(args, "--timeout", "60s")...); code == 0 || !strings.Contains(errs, "MaxBytes") || strings.Contains(errs, "60s") {
			t.Errorf("%v: exit code %d, %s", args[:3], code, errs)
		}
	}
	readable := func() {
		t.Helper()
		for i := range 8 {
			if got := f.good("kv", "get", fmt.Sprint("k", i), "--timeout", "60s"); got != "v" {
				t.Errorf("key %d has %q", i, got)
			}
		}
		if _, out, _ := f.run("status"); !strings.Contains(out, "PRESSED") {
			t.Errorf("status does not say that the memory is full:\n%s", out)
		}
	}
	refused("log", "append", "7", strings.Repeat("x", 1000))
	refused("write", "17.0", strings.Repeat("x", 1000), "--alloc", "1")
	readable()
	for i := range 3 {
		f.servers[i].Stop()
		f.start(i)
	}
	f.healthy("restarted")
	readable()
	refused("log", "append", "7", strings.Repeat("x", 1000))
	f.good("log", "trim", "7", last.String(), "--timeout", "60s")
	f.lives("trimmed")
	if _, out, _ := f.run("status"); strings.Contains(out, "PRESSED") {
		t.Errorf("pressed after a trim:\n%s", out)
	}
	eventually(t, "an append after a trim", func() bool { _, err := l.Append(ctx, entry); return err == nil })
}

// TestEverybodyReplaced replaces as many servers as the description names, with a log
// that is open all the while. A client that is given the description of now finds the cluster, and
// so do the servers themselves when they start again with that of before.
func TestEverybodyReplaced(t *testing.T) {
	f := newFleet(t, 6)
	f.lives("before")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l, err := f.client(nil).Log(ctx, 7, worm.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	before, described := f.cluster, filepath.Join(f.dir, "described.json")
	for i := range 3 {
		f.start(3 + i)
		f.good("replace", fmt.Sprint("n", i), "--with", f.names[3+i], "--timeout", "60s")
		f.servers[i].Kill()
		if _, err := l.Append(ctx, fmt.Append(nil, "open ", i)); err != nil {
			t.Fatalf("append after replacement %d: %v", i, err)
		}
		if err := os.WriteFile(described, []byte(f.good("describe", "--timeout", "60s")), 0o600); err != nil {
			t.Fatal(err)
		}
		f.cluster = described
	}
	f.lives("with the description of now")
	for _, s := range f.servers[3:] {
		s.Kill()
	}
	f.cluster = before
	for i := range 3 {
		f.start(3 + i)
	}
	f.cluster = described
	f.lives("started with the description of before")
	if got := f.good("log", "cat", "7", "--timeout", "60s"); !strings.Contains(got, "open 2") {
		t.Errorf("the log has %q", got)
	}
}
