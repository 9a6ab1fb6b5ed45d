// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"testing"
	"time"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// BenchmarkRequest encodes and decodes a write of 64 bytes.
func BenchmarkRequest(b *testing.B) {
	q := wor.Request{Kind: wor.KindWrite, Partition: 1, Epoch: 2, Range: wor.Range{Segment: 12345, Lo: 678, Hi: 679},
		Ballot: wor.Ballot{Round: 3, Nonce: 1 << 62}, Value: make([]byte, 64)}
	var e Encoder
	var s Scanner
	var got wor.Request
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		e.Reset(1 << 20)
		if err := e.Request(n, 5*time.Second, &q); err != nil {
			b.Fatal(err)
		}
		s.Feed(e.Bytes())
		f, ok, err := s.Next()
		if !ok {
			b.Fatal(err)
		}
		if id, _, err := DecodeRequest(f.Payload, &got); err != nil || id != n {
			b.Fatal(id, err)
		}
		s.Next()
	}
	b.SetBytes(int64(e.Len()))
}

// BenchmarkReply encodes and decodes the reply to a write.
func BenchmarkReply(b *testing.B) {
	ballot := wor.Ballot{Round: 3, Nonce: 1 << 62}
	r := wor.Reply{Epoch: 2, Runs: []wor.Run{{Count: 1, Promised: ballot, Written: true, Accepted: ballot}}}
	var e Encoder
	var s Scanner
	var got wor.Reply
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		e.Reset(1 << 20)
		if err := e.Reply(n, n, &r); err != nil {
			b.Fatal(err)
		}
		s.Feed(e.Bytes())
		f, ok, err := s.Next()
		if !ok {
			b.Fatal(err)
		}
		if id, _, err := DecodeReply(f.Payload, &got); err != nil || id != n {
			b.Fatal(id, err)
		}
		s.Next()
	}
	b.SetBytes(int64(e.Len()))
}
