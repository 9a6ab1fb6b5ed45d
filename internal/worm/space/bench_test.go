// SPDX-License-Identifier: Apache-2.0

package space_test

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/worm/group"
	"github.com/ashlar-dev/ashlar/internal/worm/space"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// still is a clock that never advances: no alarm rings.
type still struct{}

func (still) Now() env.Instant                         { return 1 }
func (still) Wall() time.Time                          { return time.Time{} }
func (still) After(time.Duration, env.Waker) env.Timer { return still{} }
func (still) Stop() bool                               { return true }

// direct is servers that answer at once, as soon as no call is running.
type direct struct {
	genesis *wor.Genesis
	groups  []*group.Group
	log     wor.Log
	waiting []pending
}

type pending struct {
	g      int
	q      wor.Request
	answer func(*wor.Reply)
}

func (d *direct) Call(to wor.Member, q *wor.Request, _ time.Duration, answer func(*wor.Reply)) {
	d.waiting = append(d.waiting, pending{d.genesis.Partitions[0].Index(to.ID), *q, answer})
}

func (d *direct) Listen(wor.Member, *wor.Request, func(*wor.Note), func(*wor.Reply), func()) func() {
	return func() {}
}

func (d *direct) Invoke(wor.Member, wor.Service, []byte, time.Duration, func([]byte, error)) {}

func (d *direct) settle() {
	for len(d.waiting) > 0 {
		p := d.waiting[0]
		d.waiting = d.waiting[1:]
		r := &wor.Reply{}
		d.log.Reset()
		d.groups[p.g].Handle(&p.q, r, &d.log)
		p.answer(r)
	}
	d.waiting = d.waiting[:0]
}

// bench makes a Space over three such servers and a segment of that many
// registers.
func bench(b *testing.B, size uint32) (*space.Space, *direct) {
	b.Helper()
	d := &direct{genesis: &wor.Genesis{}}
	cfg := wor.Config{}
	for i := range 3 {
		cfg.Members = append(cfg.Members, wor.Member{ID: wor.ServerID(i + 1), Name: "n", Addr: "a"})
	}
	d.genesis.Partitions = []wor.Config{cfg}
	for i := range 3 {
		d.groups = append(d.groups, group.New(wor.ServerID(i+1), d.genesis, 0))
	}
	s, err := space.Open(space.Options{
		Env:    env.Env{Clock: still{}, Random: env.Seeded(1)},
		Serial: &env.Serial{}, Transport: d, Genesis: d.genesis,
	})
	if err != nil {
		b.Fatal(err)
	}
	s.Alloc(1, wor.Meta{Size: size}, 0, func(_ wor.Meta, e error) { err = e })
	d.settle()
	if err != nil {
		b.Fatal(err)
	}
	return s, d
}

// BenchmarkWrite is a write with a token and the work of three servers.
func BenchmarkWrite(b *testing.B) {
	s, d := bench(b, wor.RangeMax)
	b.ReportAllocs()
	value := []byte("12345678")
	var token *wor.Token
	failed := 0
	done := func(err error) {
		if err != nil {
			failed++
		}
	}
	n := uint32(wor.RangeMax)
	segment := wor.Segment(0)
	for b.Loop() {
		if n == wor.RangeMax {
			n = 0
			segment++
			s.Alloc(segment, wor.Meta{Size: wor.RangeMax}, 0, func(wor.Meta, error) {})
			d.settle()
			s.Capture(wor.Range{Segment: segment, Hi: wor.RangeMax}, 0, func(t *wor.Token, err error) { token = t; done(err) })
			d.settle()
		}
		s.Write(token, n, value, 0, done)
		d.settle()
		n++
	}
	if failed > 0 {
		b.Fatal(failed, "failed")
	}
}

// BenchmarkRead is a read of a decided register and the work of three servers.
func BenchmarkRead(b *testing.B) {
	s, d := bench(b, 10)
	failed := 0
	s.Propose(wor.Addr{Segment: 1}, []byte("12345678"), 0, func(err error) {
		if err != nil {
			failed++
		}
	})
	d.settle()
	done := func(_ []byte, err error) {
		if err != nil {
			failed++
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Read(wor.Addr{Segment: 1}, 0, done)
		d.settle()
	}
	if failed > 0 {
		b.Fatal(failed, "failed")
	}
}
