// SPDX-License-Identifier: Apache-2.0

// Package smtp takes mail for a mail store, by SMTP. The protocol is that of
// github.com/emersion/go-smtp; this package connects it to the store.
//
// A message is acknowledged after it is durable for every recipient. If the
// acknowledgement does not reach the client, the message may be stored
// nevertheless, and is stored twice if the client tries again: SMTP cannot do
// better. Recipients that are not users of the store are refused. There is no
// relaying, and no TLS.
package smtp

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	gosmtp "github.com/emersion/go-smtp"
)

// Store is where mail goes. It is safe for concurrent use. Errors of its
// methods are temporary: the client is asked to try again later.
type Store interface {
	// Room returns an error if a message of that many bytes could not be
	// delivered to a user now.
	Room(user uint64, bytes int64) error
	// Deliver delivers a message to each of the users. If it returns nil, the
	// message is durable for all; after an error, some of them may still
	// receive it. The caller must not change message, then or later.
	Deliver(users []uint64, message []byte) error
}

// Options are the options of a server; all are required.
type Options struct {
	// Domain is the name of this host in greetings and traces.
	Domain string
	// Lookup finds the user of an address.
	Lookup func(address string) (user uint64, ok bool)
	// Wall is the time of the day, for traces.
	Wall func() time.Time
	// MessageBytesMax and RecipientsMax bound the size and the recipients of a
	// message, and IdleMax how long a client may be silent.
	MessageBytesMax int64
	RecipientsMax   int
	IdleMax         time.Duration
	Log             *slog.Logger
}

// lineBytesMax is the longest accepted line of a message; RFC 5321 requires
// 1000.
const lineBytesMax = 8000

// NewServer returns a server that is ready to serve listeners.
func NewServer(store Store, o Options) *gosmtp.Server {
	s := gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) {
		return &session{store: store, options: o, conn: c}, nil
	}))
	s.Domain = o.Domain
	s.MaxMessageBytes = o.MessageBytesMax
	s.MaxRecipients = o.RecipientsMax
	s.MaxLineLength = lineBytesMax
	s.ReadTimeout, s.WriteTimeout = o.IdleMax, o.IdleMax
	s.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)
	return s
}

// session is a connection of a client. One goroutine uses it.
type session struct {
	store   Store
	options Options
	conn    *gosmtp.Conn

	from string
	size int64    // of the message, where the client has said it
	to   []uint64 // each user once, however often it is named
}

var _ gosmtp.Session = (*session)(nil)

// Mail implements gosmtp.Session.
func (s *session) Mail(from string, o *gosmtp.MailOptions) error {
	s.from, s.size = from, 0
	if o != nil {
		s.size = o.Size
	}
	return nil
}

// later asks the client to try again: the world has no room at the moment.
func later(err error) error {
	return &gosmtp.SMTPError{Code: 452, EnhancedCode: gosmtp.EnhancedCode{4, 3, 1}, Message: err.Error()}
}

// Rcpt implements gosmtp.Session.
func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	user, ok := s.options.Lookup(to)
	if !ok {
		return &gosmtp.SMTPError{Code: 550, EnhancedCode: gosmtp.EnhancedCode{5, 1, 1}, Message: "No such user here"}
	}
	if err := s.store.Room(user, s.size); err != nil {
		return later(err)
	}
	if !slices.Contains(s.to, user) {
		s.to = append(s.to, user)
	}
	return nil
}

// Data implements gosmtp.Session. Without an error the client has its acknowledgement.
func (s *session) Data(r io.Reader) error {
	message := bytes.NewBufferString(s.trace())
	if _, err := message.ReadFrom(r); err != nil {
		return err
	}
	// Reset empties s.to while a delivery that failed may be under way.
	if err := s.store.Deliver(slices.Clone(s.to), message.Bytes()); err != nil {
		s.options.Log.Warn("not delivered", "bytes", message.Len(), "users", len(s.to), "error", err)
		return later(err)
	}
	s.options.Log.Debug("delivered", "bytes", message.Len(), "users", len(s.to))
	return nil
}

// trace returns the header that RFC 5321 requires a server to put before a
// message.
func (s *session) trace() string {
	client := s.conn.Hostname()
	if addr := s.conn.Conn().RemoteAddr(); addr != nil {
		client += " (" + addr.String() + ")"
	}
	return fmt.Sprintf("Return-Path: <%s>\r\nReceived: from %s\r\n\tby %s with ESMTP; %s\r\n",
		oneLine(s.from), oneLine(client), s.options.Domain, s.options.Wall().Format(time.RFC1123Z))
}

// oneLine removes line ends from a client's words, so that they cannot end a
// header line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// Reset implements gosmtp.Session.
func (s *session) Reset() { s.from, s.size, s.to = "", 0, nil }

// Logout implements gosmtp.Session.
func (s *session) Logout() error { return nil }
