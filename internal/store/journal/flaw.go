// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"

	"github.com/ashlar-dev/ashlar/internal/store/message"
)

// Flaw is the reason why bytes are not what they should be. The zero Flaw means
// that nothing is wrong.
type Flaw struct {
	what        what
	want, found uint64
}

// what is the part that is wrong.
type what uint8

const (
	sound what = iota
	wrongShort
	wrongMagic
	wrongVersion
	wrongFlags
	wrongHeaderChecksum
	wrongFrameChecksum
	wrongLength
	wrongSpace
	wrongSegment
	wrongSession
	wrongFirst
	wrongCount
	wrongDurable
	wrongPrev
	wrongStart
)

// OK reports whether nothing is wrong.
func (f Flaw) OK() bool { return f.what == sound }

// Want is what should be there.
func (f Flaw) Want() string {
	switch f.what {
	case sound:
		return "anything"
	case wrongShort:
		return fmt.Sprintf("at least %d bytes", f.want)
	case wrongMagic:
		return fmt.Sprintf("magic %#08x", f.want)
	case wrongVersion:
		return fmt.Sprintf("version %d", f.want)
	case wrongFlags:
		return fmt.Sprintf("flags up to %#x", f.want)
	case wrongHeaderChecksum:
		return fmt.Sprintf("header checksum %#08x", f.want)
	case wrongFrameChecksum:
		return fmt.Sprintf("frame checksum %#08x", f.want)
	case wrongLength:
		return fmt.Sprintf("a length that fits into %d bytes", f.want)
	case wrongSpace:
		return fmt.Sprintf("a segment of at least %d bytes", f.want)
	case wrongSegment:
		return fmt.Sprintf("segment %d", f.want)
	case wrongSession:
		return fmt.Sprintf("session %#016x", f.want)
	case wrongFirst:
		return fmt.Sprintf("message %d", f.want)
	case wrongCount:
		return fmt.Sprintf("messages from %d on", f.want)
	case wrongDurable:
		return fmt.Sprintf("a durable message below %d", f.want)
	case wrongPrev:
		return fmt.Sprintf("a frame after checksum %#08x", f.want)
	}
	return "a frame that continues the session"
}

// Found is what was found instead.
func (f Flaw) Found() string {
	switch f.what {
	case sound:
		return "the same"
	case wrongFlags:
		return fmt.Sprintf("%#x", f.found)
	case wrongMagic, wrongHeaderChecksum, wrongFrameChecksum, wrongPrev:
		return fmt.Sprintf("%#08x", f.found)
	case wrongSession:
		return fmt.Sprintf("%#016x", f.found)
	case wrongStart:
		return "a start"
	}
	return fmt.Sprint(f.found)
}

// Testimony is a statement that was true when it was written: all messages up to
// Durable were safe (Header.Durable). File and Offset are its place, for reports.
type Testimony struct {
	File    string
	Offset  int64
	Durable message.Seq
}

// Corrupt is the error for a journal that has lost synced messages.
type Corrupt struct {
	// Segment is the number of the segment that is not what it should be, File
	// its file, and Offset where in it, in bytes. File is empty when the whole
	// segment is missing.
	Segment uint64
	File    string
	Offset  int64
	// Missing is the first message that is not there.
	Missing message.Seq
	// Want is what should be at the offset, and Found what is.
	Want, Found string
	// Witness proves the loss: a frame, or Options.Witness.
	Witness Testimony
}

func (c *Corrupt) Error() string {
	file := c.File
	if file == "" {
		file = "(no file)"
	}
	return fmt.Sprintf("journal segment %d, %s at byte %d: want message %d with %s, found %s; %s at byte %d records that messages up to %d were synced",
		c.Segment, file, c.Offset, c.Missing, c.Want, c.Found, c.Witness.File, c.Witness.Offset, c.Witness.Durable)
}
