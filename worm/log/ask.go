// SPDX-License-Identifier: Apache-2.0

package log

import (
	"encoding/binary"

	"github.com/ashlar-dev/ashlar/worm/wor"
)

// verb is the kind of a request to a sequencer.
type verb uint8

const (
	// verbToken asks for addresses.
	verbToken verb = iota + 1
	// verbTail asks for the next address.
	verbTail
	// verbElect asks a server to become the sequencer, if no segment above
	// index has been allocated.
	verbElect
)

// ask is a request to a sequencer.
type ask struct {
	verb verb
	log  ID
	// index is the last segment that the asker knows to be allocated, -1 for
	// none.
	index int64
	// count is the number of addresses wanted.
	count uint32
	// client is the asker's nonce. The asker writes nothing more at its
	// addresses below settled.
	client  uint64
	settled Position
	// bytes is about the number of bytes that the asker will write at the
	// addresses, plus those that it has written at earlier ones without
	// reporting them.
	bytes uint32
}

const (
	askVersion = 2
	askLength  = 2 + 4 + 8 + 4 + 8 + 8 + 4
)

func (a ask) encode() []byte {
	b := append(make([]byte, 0, askLength), askVersion, byte(a.verb))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.log))
	b = binary.LittleEndian.AppendUint64(b, uint64(a.index))
	b = binary.LittleEndian.AppendUint32(b, a.count)
	b = binary.LittleEndian.AppendUint64(b, a.client)
	b = binary.LittleEndian.AppendUint64(b, uint64(a.settled))
	return binary.LittleEndian.AppendUint32(b, a.bytes)
}

func decodeAsk(b []byte) (ask, bool) {
	if len(b) != askLength || b[0] != askVersion {
		return ask{}, false
	}
	a := ask{
		verb: verb(b[1]), log: ID(binary.LittleEndian.Uint32(b[2:])),
		index: int64(binary.LittleEndian.Uint64(b[6:])), count: binary.LittleEndian.Uint32(b[14:]),
		client: binary.LittleEndian.Uint64(b[18:]), settled: Position(binary.LittleEndian.Uint64(b[26:])),
		bytes: binary.LittleEndian.Uint32(b[34:]),
	}
	ok := a.verb >= verbToken && a.verb <= verbElect && a.log <= IDMax && a.index >= -1 && a.index <= IndexMax
	return a, ok
}

// status is a sequencer's answer.
type status uint8

const (
	statusOK status = iota + 1
	// statusBusy: the server is taking over; ask again later.
	statusBusy
	// statusStranger: as far as the server knows, it is not the sequencer.
	statusStranger
)

// said is a sequencer's answer to an ask.
type said struct {
	status status
	// top is the last segment that the sequencer has allocated. Only the
	// sequencer sets it.
	top uint32
	// tail is the next address to be handed out; after verbToken, the one after
	// the token's last.
	tail Position
	// token is the result of verbToken. All its registers are unused.
	token *wor.Token
}

const (
	saidVersion = 1
	saidLength  = 2 + 4 + 8
	partLength  = 4 + 4 + 4 + 1 + 4 + 8 + 8
)

func (s said) encode() []byte {
	b := append(make([]byte, 0, saidLength+partLength), saidVersion, byte(s.status))
	b = binary.LittleEndian.AppendUint32(b, s.top)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.tail))
	if t := s.token; t != nil {
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Range.Segment))
		b = binary.LittleEndian.AppendUint32(b, t.Range.Lo)
		b = binary.LittleEndian.AppendUint32(b, t.Range.Hi)
		b = append(b, byte(t.Protocol))
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Epoch))
		b = binary.LittleEndian.AppendUint64(b, t.Ballot.Round)
		b = binary.LittleEndian.AppendUint64(b, t.Ballot.Nonce)
	}
	return b
}

// decodeSaid decodes an answer about a log.
func decodeSaid(id ID, b []byte) (said, bool) {
	if len(b) != saidLength && len(b) != saidLength+partLength || b[0] != saidVersion {
		return said{}, false
	}
	s := said{
		status: status(b[1]), top: binary.LittleEndian.Uint32(b[2:]),
		tail: Position(binary.LittleEndian.Uint64(b[6:])),
	}
	if s.status < statusOK || s.status > statusStranger || s.tail.check() != nil {
		return said{}, false
	}
	if b = b[saidLength:]; len(b) == 0 {
		return s, true
	}
	t := &wor.Token{
		Range: wor.Range{
			Segment: id.Segment(binary.LittleEndian.Uint32(b)),
			Lo:      binary.LittleEndian.Uint32(b[4:]), Hi: binary.LittleEndian.Uint32(b[8:]),
		},
		Protocol: wor.Protocol(b[12]), Epoch: wor.Epoch(binary.LittleEndian.Uint32(b[13:])),
		Ballot: wor.Ballot{Round: binary.LittleEndian.Uint64(b[17:]), Nonce: binary.LittleEndian.Uint64(b[25:])},
	}
	// Register 0 is for the mark; no token covers it.
	if t.Range.Lo == 0 || t.Range.Lo >= t.Range.Hi || t.Range.Hi-t.Range.Lo > CountMax || t.Range.Hi > SizeMax ||
		!t.Protocol.Valid() || t.Ballot.IsZero() {
		return said{}, false
	}
	s.token = t
	return s, true
}
