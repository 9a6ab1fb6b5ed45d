// SPDX-License-Identifier: Apache-2.0

package wor

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The values of configuration and metadata registers. Each begins with a byte
// that identifies its form; numbers are little endian, texts and byte strings
// are preceded by their length as uint32. Each value has exactly one encoding:
// decoding refuses all others, so that equal values are equal bytes.

const (
	configForm byte = 1
	metaForm   byte = 2
)

// The longest Member.Name and Member.Addr, in bytes.
const (
	NameMax       = 255
	MemberAddrMax = 1024
)

// ErrEncoding reports bytes that are not the encoding of a value.
var ErrEncoding = errors.New("not the encoding of a value")

// Check returns an error if the configuration is invalid: it has no members,
// more than MembersMax or duplicate ones, or a text is too long.
func (c *Config) Check() error {
	if len(c.Members) == 0 {
		return errors.New("configuration without members")
	}
	if len(c.Members) > MembersMax {
		return &LimitError{"MembersMax", MembersMax, int64(len(c.Members))}
	}
	for i := range c.Members {
		m := &c.Members[i]
		if c.Index(m.ID) != i {
			return fmt.Errorf("configuration lists server %v twice", m.ID)
		}
		if len(m.Name) > NameMax {
			return &LimitError{"NameMax", NameMax, int64(len(m.Name))}
		}
		if len(m.Addr) > MemberAddrMax {
			return &LimitError{"MemberAddrMax", MemberAddrMax, int64(len(m.Addr))}
		}
	}
	return nil
}

// AppendBinary appends the encoding of the configuration, which must pass
// Check.
func (c *Config) AppendBinary(b []byte) ([]byte, error) {
	if err := c.Check(); err != nil {
		return b, err
	}
	b = append(b, configForm)
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Partition))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Epoch))
	b = binary.LittleEndian.AppendUint64(b, c.Tag)
	b = binary.LittleEndian.AppendUint64(b, c.Digest)
	tainted := byte(0)
	if c.Tainted {
		tainted = 1
	}
	b = append(b, tainted, byte(len(c.Members)))
	for _, m := range c.Members {
		b = binary.LittleEndian.AppendUint64(b, uint64(m.ID))
		b = appendString(b, m.Name)
		b = appendString(b, m.Addr)
	}
	return b, nil
}

// MarshalBinary returns the encoding that AppendBinary appends.
func (c *Config) MarshalBinary() ([]byte, error) { return c.AppendBinary(nil) }

// UnmarshalBinary reads what AppendBinary wrote. The configuration does not
// refer to the bytes. An error is ErrEncoding or that of Check.
func (c *Config) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	d.form(configForm)
	*c = Config{Partition: Partition(d.uint32()), Epoch: Epoch(d.uint32()), Tag: d.uint64(), Digest: d.uint64()}
	tainted := d.byte()
	c.Tainted = tainted == 1
	n := int(d.byte())
	if tainted > 1 || n > MembersMax {
		return ErrEncoding
	}
	for range n {
		m := Member{ID: ServerID(d.uint64())}
		m.Name = string(d.bytes(NameMax))
		m.Addr = string(d.bytes(MemberAddrMax))
		c.Members = append(c.Members, m)
	}
	if !d.end() {
		return ErrEncoding
	}
	return c.Check()
}

// Check returns an error if no segment can have this metadata, whatever
// partitions there are.
func (m *Meta) Check() error {
	if !m.Protocol.Valid() {
		return fmt.Errorf("segment with %v", m.Protocol)
	}
	if m.Size > SegmentMax {
		return &LimitError{"SegmentMax", SegmentMax, int64(m.Size)}
	}
	if len(m.Payload) > PayloadMax {
		return &LimitError{"PayloadMax", PayloadMax, int64(len(m.Payload))}
	}
	return nil
}

// AppendBinary appends the encoding of the metadata, which must pass Check.
func (m *Meta) AppendBinary(b []byte) ([]byte, error) {
	if err := m.Check(); err != nil {
		return b, err
	}
	b = append(b, metaForm)
	b = binary.LittleEndian.AppendUint64(b, m.Owner)
	b = binary.LittleEndian.AppendUint32(b, uint32(m.Partition))
	b = append(b, byte(m.Protocol))
	b = binary.LittleEndian.AppendUint32(b, m.Size)
	return appendBytes(b, m.Payload), nil
}

// MarshalBinary returns the encoding that AppendBinary appends.
func (m *Meta) MarshalBinary() ([]byte, error) { return m.AppendBinary(nil) }

// UnmarshalBinary reads what AppendBinary wrote. The payload is a copy, nil if
// it is empty. An error is ErrEncoding or that of Check.
func (m *Meta) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	d.form(metaForm)
	*m = Meta{Owner: d.uint64(), Partition: Partition(d.uint32()), Protocol: Protocol(d.byte()), Size: d.uint32()}
	m.Payload = append([]byte(nil), d.bytes(PayloadMax)...)
	if !d.end() {
		return ErrEncoding
	}
	return m.Check()
}

func appendBytes(b, v []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}

func appendString(b []byte, v string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
	return append(b, v...)
}

// decoder takes values from the front; once data is missing, it yields only
// zeros, and end returns false.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) take(n int) []byte {
	if d.failed || n > len(d.b) {
		d.failed = true
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) form(f byte) { d.failed = d.byte() != f || d.failed }
func (d *decoder) end() bool   { return !d.failed && len(d.b) == 0 }

func (d *decoder) byte() byte {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) uint32() uint32 {
	if v := d.take(4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) bytes(most int) []byte {
	n := d.uint32()
	if n > uint32(most) {
		d.failed = true
	}
	return d.take(int(n))
}
