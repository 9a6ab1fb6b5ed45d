// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/sim/suite"
)

// The exercise is a small program that uses all of env, so that each kind of
// fault has something to hit: keepers number records, write them to a journal,
// and after a sync tell each other by stream and packet how far they are.

// What the exercise passes when it recovers.
const (
	markTorn    env.Mark = "journal: torn tail cut"
	markCorrupt env.Mark = "journal: corrupt record"
	markEmpty   env.Mark = "journal: started anew"
	markNoSync  env.Mark = "journal: sync failed"
	markFull    env.Mark = "journal: disk full"
	markUnread  env.Mark = "journal: unreadable"
)

// acked says that records up to n are durable.
type acked struct {
	keeper string
	n      uint32
}

func (acked) EventName() string { return "acked" }

const recordSize = 300

func record(n uint32) []byte {
	b := make([]byte, recordSize)
	binary.LittleEndian.PutUint32(b[4:], n)
	for i := 8; i < len(b); i++ {
		b[i] = byte(n)
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return b
}

type keeper struct {
	l     *sim.Life
	file  env.File
	n     uint32 // of the last record
	peers []string
	conns map[string]env.Conn
	port  env.Port
	heard map[string]uint32
}

func (k *keeper) name() string { return k.l.Node().Name() }

// recover reads the journal and cuts it where it ends.
func (k *keeper) recover() error {
	disk, tr := k.l.Env.Disk, k.l.Env.Tracer
	if err := disk.MakeDir("data"); err != nil {
		return err
	}
	if err := disk.SyncDir("."); err != nil {
		return err
	}
	_, err := disk.Open("data/journal", false)
	if errors.Is(err, fs.ErrNotExist) {
		tr.Trace(markEmpty)
	}
	if k.file, err = disk.Open("data/journal", true); err != nil {
		return err
	}
	if err := disk.SyncDir("data"); err != nil {
		return err
	}
	b := make([]byte, recordSize)
	for {
		off := int64(k.n) * recordSize
		m, err := k.file.ReadAt(b, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if m == 0 {
			break
		}
		if m < recordSize || !bytes.Equal(b, record(k.n+1)) {
			size, err := k.file.Size()
			if err != nil {
				return err
			}
			if size >= off+2*recordSize {
				tr.Trace(markCorrupt)
			}
			tr.Trace(markTorn)
			if err := k.file.Truncate(off); err != nil {
				return err
			}
			break
		}
		k.n++
	}
	return k.file.Sync()
}

// give starts the machine anew when its disk does not do what it should. To
// start the program alone would not do: after a failed sync it could read from
// the cache what is not on the disk, and no later sync would write it.
func (k *keeper) give(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
	k.l.Node().Start(50 * time.Millisecond)
	k.l.Node().Crash(true)
}

func (k *keeper) append() {
	tr := k.l.Env.Tracer
	for range 3 {
		if err := k.file.Append(record(k.n + 1)); err != nil {
			tr.Trace(markFull)
			k.give(err)
		}
		k.n++
	}
	if err := k.file.Sync(); err != nil {
		tr.Trace(markNoSync)
		k.give(err)
	}
	tr.Trace(acked{k.name(), k.n})
	k.tell()
	k.l.Env.Clock.After(20*time.Millisecond, env.WakeFunc(k.append))
}

func (k *keeper) tell() {
	b := binary.LittleEndian.AppendUint32(nil, k.n)
	for _, p := range k.peers {
		if c := k.conns[p]; c != nil {
			c.Write(b)
		} else {
			k.conns[p] = k.l.Env.Network.Dial(env.Addr(p+":1"), &speaker{k, p})
		}
		k.port.Send(env.Addr(p+":2"), b)
	}
}

type speaker struct {
	k    *keeper
	peer string
}

func (s *speaker) Opened(env.Conn)       {}
func (s *speaker) Data(env.Conn, []byte) {}
func (s *speaker) Drained(env.Conn)      {}
func (s *speaker) Closed(env.Conn, error) {
	s.k.conns[s.peer] = nil
}

type hearer struct {
	k    *keeper
	part []byte
	last uint32
}

func (h *hearer) Opened(env.Conn)  {}
func (h *hearer) Drained(env.Conn) {}
func (h *hearer) Closed(env.Conn, error) {
}
func (h *hearer) Data(c env.Conn, b []byte) {
	h.part = append(h.part, b...)
	for len(h.part) >= 4 {
		n := binary.LittleEndian.Uint32(h.part)
		h.part = h.part[4:]
		if n < h.last {
			panic(fmt.Sprintf("a stream says %d after %d", n, h.last))
		}
		h.last = n
	}
}

func bootKeeper(peers []string) sim.Boot {
	return func(l *sim.Life) error {
		k := &keeper{l: l, conns: map[string]env.Conn{}, heard: map[string]uint32{}}
		for _, p := range peers {
			if p != k.name() {
				k.peers = append(k.peers, p)
			}
		}
		if err := k.recover(); err != nil {
			l.Env.Tracer.Trace(markUnread)
			k.give(err)
		}
		var err error
		if _, err = l.Env.Network.Listen(":1", func(env.Conn) env.Handler { return &hearer{k: k} }); err != nil {
			return err
		}
		if k.port, err = l.Env.Packets.Bind(":2", func(from env.Addr, b []byte) {}); err != nil {
			return err
		}
		l.Env.Clock.After(time.Millisecond, env.WakeFunc(k.append))
		return nil
	}
}

// exercise runs three keepers for a while. Durable says that faults do not
// break the contract of the disk: then no acknowledged record may be missing.
func exercise(durable bool) suite.Scenario {
	return func(w *sim.World) error {
		names := []string{"ann", "bob", "cat"}
		var nodes []*sim.Node
		for _, n := range names {
			nodes = append(nodes, w.Node(n, bootKeeper(names)))
		}
		max := map[string]uint32{}
		w.Observe(func(_ *sim.Life, e env.Event) {
			if a, ok := e.(acked); ok {
				if durable && a.n < max[a.keeper] {
					w.Fail("durable", fmt.Errorf("%s goes on at %d after %d", a.keeper, a.n, max[a.keeper]))
				}
				max[a.keeper] = a.n
			}
		})
		if err := w.Run(4 * time.Second); err != nil {
			return err
		}
		w.Heal()
		at := map[string]uint32{}
		for _, n := range names {
			at[n] = max[n]
		}
		return w.RunUntil(15*time.Second, func() bool {
			for _, n := range nodes {
				if n.Life() == nil || max[n.Name()] == at[n.Name()] {
					return false
				}
			}
			return true
		})
	}
}

// TestEveryKindOfFaultStrikes: all kinds there are, and what they make a
// program do, and all of it twice the same.
func TestEveryKindOfFaultStrikes(t *testing.T) {
	all := sim.NetworkFaults().And(sim.NodeFaults()).And(sim.CrashFaults()).And(sim.DiskFaults())
	if n := len(all.On()); n != len(sim.Kinds()) {
		t.Errorf("the presets have %d of %d kinds", n, len(sim.Kinds()))
	}
	suite.Suite{Getenv: os.Getenv, Package: "./sim", Short: testing.Short(), Seeds: 600, Faults: all,
		Require: []string{"acked", string(markTorn), string(markCorrupt), string(markEmpty), string(markNoSync), string(markFull), string(markUnread)},
	}.Run(t, exercise(false))
}

// TestASyncedJournalSurvives: whatever happens to nodes, network and what was
// not synced, a journal that is synced before it is acknowledged loses nothing.
func TestASyncedJournalSurvives(t *testing.T) {
	faults := sim.NetworkFaults().And(sim.NodeFaults()).And(sim.CrashFaults()).
		With(sim.ReadError, 0.002).With(sim.SyncError, 0.002).With(sim.DiskFull, 0.1).With(sim.SlowDisk, 0.2)
	suite.Suite{Getenv: os.Getenv, Package: "./sim", Short: testing.Short(), Seeds: 600, Faults: faults,
		Require: []string{"acked", string(markTorn), string(markEmpty)},
	}.Run(t, exercise(true))
}
