// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/extent"
	"github.com/ashlar-dev/ashlar/internal/store/message"
)

var update = flag.Bool("update", false, "write the golden files of this version")

func goldenBranch() ([]message.Message, []message.RangeTombstone) {
	var all []message.Message
	for i := range 40 {
		all = append(all, message.Message{
			Key: []byte{'k', byte(i / 20), byte(i / 12)}, Value: bytes.Repeat([]byte{byte(i)}, 7*i), Seq: message.Seq(100 - i),
			Kind: message.Kind(1 + i%3),
		})
	}
	all = append(all, message.Message{
		Key: []byte("z"), Value: message.BlobRef{Addr: 1 << 20, Len: 5000, CRC: 7}.Append(nil), Seq: 3, Kind: message.Blob,
	})
	return all, []message.RangeTombstone{
		{Lo: []byte("a"), Hi: []byte("zz"), Seq: 50}, {Lo: []byte("k\x01"), Hi: []byte("k\x02"), Seq: 60},
	}
}

// TestGolden opens files that version 1 wrote, and writes the same bytes again.
func TestGolden(t *testing.T) {
	const file, table = "testdata/v1.data", "testdata/v1.meta"
	all, tombs := goldenBranch()
	p := newPlace(t)
	p.pages = extent.New(0, 0)
	o := p.options()
	o.Compression = None
	meta, x := write(t, p, o, 77, all, tombs...)
	x.Close()
	made := p.bytes(0, int(p.pages.End())*extent.PageSize)
	if *update {
		for name, b := range map[string][]byte{file: made, table: meta.Append(nil)} {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, data) || !bytes.Equal(meta.Append(nil), body) {
		t.Error("what is written now is not what version 1 wrote")
	}
	old := newPlace(t)
	old.put(0, data)
	got, err := DecodeMeta(body)
	if err != nil {
		t.Fatal(err)
	}
	y, err := OpenIndex(old.options(), &got)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	checkAll(t, y)
	compare(t, y, IterOptions{}, all)
	if !reflect.DeepEqual(y.Tombstones(), tombs) || len(got.Blobs) != 1 || got.Blobs[0] != (extent.Run{Page: 256, Pages: 2}) {
		t.Errorf("tombstones %v, blobs %v", y.Tombstones(), got.Blobs)
	}
}
