// SPDX-License-Identifier: Apache-2.0

package block

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/ashlar-dev/ashlar/internal/invariant"
)

// Compression is how a block's payload is stored. The numbers are on disk.
type Compression uint8

const (
	// None stores the payload as it is.
	None Compression = 0
	// S2 is fast in both directions.
	S2 Compression = 1
	// Zstd is smaller and slower.
	Zstd Compression = 2
)

func (c Compression) String() string {
	switch c {
	case None:
		return "none"
	case S2:
		return "S2"
	case Zstd:
		return "zstd"
	}
	return fmt.Sprintf("compression %d", uint8(c))
}

// ScratchBytes is the memory that compressing one block needs.
const ScratchBytes = 64 << 10

// Coder compresses. Its zstd parts, which are large, are made when the first
// zstd block is met; so one Coder should serve a whole store. The zero Coder
// is ready. It is safe for concurrent use.
type Coder struct {
	encoderOnce, decoderOnce sync.Once
	encoder                  *zstd.Encoder
	decoder                  *zstd.Decoder
}

func (c *Coder) zstdEncoder() *zstd.Encoder {
	c.encoderOnce.Do(func() {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithAllLitEntropyCompression(true), zstd.WithWindowSize(MaxBytes), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
		invariant.Check(err == nil, "the options of the zstd encoder are right")
		c.encoder = e
	})
	return c.encoder
}

func (c *Coder) zstdDecoder() *zstd.Decoder {
	c.decoderOnce.Do(func() {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderMaxWindow(MaxBytes), zstd.WithDecodeAllCapLimit(true))
		invariant.Check(err == nil, "the options of the zstd decoder are right")
		c.decoder = d
	})
	return c.decoder
}

// encode compresses src into scratch.
func (c *Coder) encode(how Compression, scratch, src []byte) []byte {
	switch how {
	case S2:
		return s2.Encode(scratch, src)
	case Zstd:
		return c.zstdEncoder().EncodeAll(src, scratch[:0])
	}
	return src
}

// decode fills dst with what src was made of.
func (c *Coder) decode(how Compression, dst, src []byte) error {
	var out []byte
	var err error
	switch how {
	case S2:
		var n int
		if n, err = s2.DecodedLen(src); err == nil && n != len(dst) {
			err = fmt.Errorf("%d bytes", n)
		}
		if err == nil {
			out, err = s2.Decode(dst[:0:len(dst)], src)
		}
	case Zstd:
		out, err = c.zstdDecoder().DecodeAll(src, dst[:0:len(dst)])
	default:
		err = fmt.Errorf("%v", how)
	}
	if err == nil && len(out) != len(dst) {
		err = fmt.Errorf("%d bytes", len(out))
	}
	return err
}

// Choose says from a sample how data like it should be stored: by S2 if that
// saves a quarter; in the last level by zstd if that saves a quarter, and a
// tenth over S2. Scratch has ScratchBytes.
func (c *Coder) Choose(sample []byte, last bool, scratch []byte) Compression {
	byS2 := len(c.encode(S2, scratch, sample))
	if last {
		if byZstd := len(c.encode(Zstd, scratch, sample)); byZstd*4 <= len(sample)*3 && byZstd*10 <= byS2*9 {
			return Zstd
		}
	}
	if byS2*4 <= len(sample)*3 {
		return S2
	}
	return None
}
