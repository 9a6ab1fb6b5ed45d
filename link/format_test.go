// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// This file is written from docs/format/link.md alone and shares no code with
// package link.

type rawFrame struct {
	kind    byte
	payload []byte
}

func (f rawFrame) bytes() []byte {
	b := make([]byte, 6, 10+len(f.payload))
	binary.LittleEndian.PutUint32(b, uint32(1+1+len(f.payload)+4))
	b[4], b[5] = 1, f.kind
	b = append(b, f.payload...)
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	sum.Write(b)
	return binary.LittleEndian.AppendUint32(b, sum.Sum32())
}

// rawFrames reads a stream: the whole frames at its beginning, how many bytes
// are behind them, and whether those can never become a frame of at most limit
// bytes.
func rawFrames(stream []byte, limit int) (frames []rawFrame, rest int, broken bool) {
	for len(stream) >= 4 {
		after := int64(stream[0]) | int64(stream[1])<<8 | int64(stream[2])<<16 | int64(stream[3])<<24
		if after < 6 || after+4 > int64(limit) || len(stream) > 4 && stream[4] != 1 {
			return frames, len(stream), true
		}
		n := int(after) + 4
		if len(stream) < n {
			break
		}
		if crc32.Checksum(stream[:n-4], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(stream[n-4:]) {
			return frames, len(stream), true
		}
		frames = append(frames, rawFrame{stream[5], stream[6 : n-4]})
		stream = stream[n:]
	}
	return frames, len(stream), false
}

func rawName(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// rawHello is what the payload of a hello says.
type rawHello struct {
	version                   uint16
	flags                     byte
	life                      uint64
	nonce                     [16]byte
	service, system, from, to string
	body                      []byte
}

func (h rawHello) payload() []byte {
	b := []byte("ASHLINK\n")
	b = append(b, byte(h.version), byte(h.version>>8), h.flags)
	b = binary.LittleEndian.AppendUint64(b, h.life)
	b = append(b, h.nonce[:]...)
	for _, s := range []string{h.service, h.system, h.from, h.to} {
		b = append(b, rawName(s)...)
	}
	return append(b, h.body...)
}

// taker takes fields off a payload.
type taker struct {
	b   []byte
	bad bool
}

func (t *taker) take(n int) []byte {
	if t.bad || len(t.b) < n {
		t.bad = true
		return make([]byte, n)
	}
	out := t.b[:n]
	t.b = t.b[n:]
	return out
}

func (t *taker) name() string { return string(t.take(int(t.take(1)[0]))) }

func readRawHello(p []byte) (h rawHello, err error) {
	t := taker{b: p}
	if string(t.take(8)) != "ASHLINK\n" {
		return h, fmt.Errorf("not a hello: %q", p)
	}
	h.version = binary.LittleEndian.Uint16(t.take(2))
	h.flags = t.take(1)[0]
	h.life = binary.LittleEndian.Uint64(t.take(8))
	copy(h.nonce[:], t.take(16))
	h.service, h.system, h.from, h.to = t.name(), t.name(), t.name(), t.name()
	h.body = t.b
	if t.bad || h.version != 1 || h.flags > 1 || h.life == 0 || h.from == "" || len(h.body) > 512 {
		return h, fmt.Errorf("a hello that breaks the rules: %+v", h)
	}
	return h, nil
}

type rawWelcome struct {
	life  uint64
	nonce [16]byte
	proof [32]byte
	node  string
	body  []byte
}

func (w rawWelcome) payload() []byte {
	b := binary.LittleEndian.AppendUint64(nil, w.life)
	b = append(append(b, w.nonce[:]...), w.proof[:]...)
	return append(append(b, rawName(w.node)...), w.body...)
}

func readRawWelcome(p []byte) (w rawWelcome, err error) {
	t := taker{b: p}
	w.life = binary.LittleEndian.Uint64(t.take(8))
	copy(w.nonce[:], t.take(16))
	copy(w.proof[:], t.take(32))
	w.node = t.name()
	w.body = t.b
	if t.bad || w.life == 0 || len(w.body) > 512 {
		return w, fmt.Errorf("a welcome that breaks the rules: %+v", w)
	}
	return w, nil
}

// rawProof is the proof of a side, 'd' or 'l'.
func rawProof(key string, side byte, h rawHello, w rawWelcome) (p [32]byte) {
	w.proof = [32]byte{}
	m := hmac.New(sha256.New, []byte(key))
	for _, part := range [][]byte{{side}, h.payload(), w.payload()} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		m.Write(n[:])
		m.Write(part)
	}
	copy(p[:], m.Sum(nil))
	return p
}
