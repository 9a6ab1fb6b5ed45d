// SPDX-License-Identifier: Apache-2.0

package merge_test

import (
	"fmt"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/merge"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// plain is an iterator over messages in memory that costs as little as one can.
type plain struct {
	messages []message.Message
	at       int
}

func (p *plain) First() bool              { p.at = 0; return p.at < len(p.messages) }
func (p *plain) Last() bool               { p.at = len(p.messages) - 1; return p.at >= 0 }
func (p *plain) Next() bool               { p.at++; return p.at < len(p.messages) }
func (p *plain) Prev() bool               { p.at--; return p.at >= 0 }
func (p *plain) Message() message.Message { return p.messages[p.at] }
func (p *plain) Err() error               { return nil }
func (p *plain) Close()                   {}
func (p *plain) SeekGE(key []byte) bool {
	l := list{messages: p.messages}
	l.SeekGE(key)
	p.at = l.at
	return l.stands()
}
func (p *plain) SeekLT(key []byte) bool {
	l := list{messages: p.messages}
	l.SeekLT(key)
	p.at = l.at
	return l.stands()
}

// spread is n records of 24-byte keys that differ in their first eight bytes,
// or after a common beginning, dealt to the sources in an order without rule.
func spread(sources, n int, common bool) [][]message.Message {
	out := make([][]message.Message, sources)
	for i := range n {
		key := fmt.Appendf(nil, "%08d-user-record-key", i)
		if common {
			key = fmt.Appendf(nil, "user-record-key-%08d", i)
		}
		to := int(uint32(i)*2654435761>>8) % sources
		out[to] = append(out[to], message.Message{Key: key, Value: make([]byte, 8), Seq: message.Seq(i + 1), Kind: message.Put})
	}
	return out
}

const benchRecords = 1 << 16

func iters(lists [][]message.Message) []message.Iter {
	var out []message.Iter
	for _, l := range lists {
		out = append(out, &plain{messages: l})
	}
	return out
}

// BenchmarkSource is what the source itself costs in the other benchmarks.
func BenchmarkSource(b *testing.B) {
	source := iters(spread(1, benchRecords, false))[0]
	var bytes int
	for i := 0; i < b.N; {
		for ok := source.First(); ok && i < b.N; ok = source.Next() {
			m := source.Message()
			bytes += len(m.Key)
			i++
		}
	}
}

func BenchmarkMergedNext(b *testing.B) {
	for _, common := range []bool{false, true} {
		for _, n := range []int{1, 2, 4, 8, 16} {
			b.Run(fmt.Sprintf("sources=%d/common=%v", n, common), func(b *testing.B) {
				it := merge.New(iters(spread(n, benchRecords, common)))
				b.ReportAllocs()
				b.ResetTimer()
				for i := 0; i < b.N; {
					for ok := it.First(); ok && i < b.N; ok = it.Next() {
						i++
					}
				}
			})
		}
	}
}

func BenchmarkVisibleNext(b *testing.B) {
	for _, n := range []int{1, 4, 8} {
		b.Run(fmt.Sprintf("sources=%d", n), func(b *testing.B) {
			var sources []merge.Source
			for _, it := range iters(spread(n, benchRecords, false)) {
				sources = append(sources, merge.Source{Iter: it})
			}
			v := merge.NewVisible(sources, merge.View{At: message.MaxSeq})
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; {
				for ok := v.First(); ok && i < b.N; ok = v.Next() {
					i++
				}
			}
		})
	}
}

func BenchmarkVisiblePrev(b *testing.B) {
	var sources []merge.Source
	for _, it := range iters(spread(4, benchRecords, false)) {
		sources = append(sources, merge.Source{Iter: it})
	}
	v := merge.NewVisible(sources, merge.View{At: message.MaxSeq})
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; {
		for ok := v.Last(); ok && i < b.N; ok = v.Prev() {
			i++
		}
	}
}

// BenchmarkVisibleOpen is what a short scan pays before its first record.
func BenchmarkVisibleOpen(b *testing.B) {
	var sources []merge.Source
	for _, it := range iters(spread(8, benchRecords, false)) {
		sources = append(sources, merge.Source{Iter: it})
	}
	var v merge.Visible
	key := []byte("00030000")
	b.ReportAllocs()
	for b.Loop() {
		v.Reset(sources, merge.View{At: message.MaxSeq})
		v.SeekGE(key)
	}
}

func BenchmarkKeep(b *testing.B) {
	for _, c := range []struct {
		name      string
		snapshots []message.Seq
		ranged    bool
	}{{name: "plain"}, {name: "snapshots", snapshots: []message.Seq{100, 20000, 40000}}, {name: "tombstones", ranged: true}} {
		for _, n := range []int{1, 4, 8} {
			b.Run(fmt.Sprintf("%s/sources=%d", c.name, n), func(b *testing.B) {
				lists := spread(n, benchRecords, false)
				b.ReportAllocs()
				b.ResetTimer()
				for i := 0; i < b.N; {
					o := merge.KeepOptions{Sources: iters(lists), Snapshots: c.snapshots}
					if c.ranged {
						for i := range 100 {
							o.Tombstones = append(o.Tombstones, message.RangeTombstone{
								Lo: fmt.Appendf(nil, "%08d", 600*i), Hi: fmt.Appendf(nil, "%08d", 600*i+100), Seq: benchRecords + 1})
						}
					}
					k := merge.NewKeep(o)
					for i < b.N && k.Next() {
						i++
					}
				}
			})
		}
	}
}

func BenchmarkFold(b *testing.B) {
	var f merge.Fold
	key, dst := []byte("00030000-user-record-key"), make([]byte, 0, 512)
	put := message.Message{Key: key, Value: make([]byte, 512), Seq: 1, Kind: message.Put}
	b.ReportAllocs()
	for b.Loop() {
		f.Reset(key, dst, nil)
		f.Add(put)
		if _, ok, _ := f.Value(); !ok {
			b.Fatal("no value")
		}
	}
}
