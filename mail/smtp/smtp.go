// Package smtp takes mail for a mail store, by SMTP. The protocol is that of
// github.com/emersion/go-smtp; this package is what stands between it and the
// store.
//
// A message is acknowledged after it is durable for every recipient. One whose
// acknowledgement does not reach the client may be there as well, and then comes
// twice if the client tries again: SMTP cannot do better. Recipients that are
// not users of the store are refused. There is no relaying, and no TLS.
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

// Store is where mail goes. It is safe for concurrent use. An error of either
// method is one that may pass: the client is asked to try again later.
type Store interface {
	// Room says why a message of so many bytes could not be delivered to a user now.
	Room(user uint64, bytes int64) error
	// Deliver delivers a message to each of the users. It is durable for all when
	// Deliver returns without an error; with one, it may come to some of them still.
	// The caller does not change message, then or later.
	Deliver(users []uint64, message []byte) error
}

// Options say what a server needs to know; all are needed.
type Options struct {
	// Domain is the name of this host in greetings and traces.
	Domain string
	// Lookup finds the user of an address.
	Lookup func(address string) (user uint64, ok bool)
	// Wall is the time of the day, for traces.
	Wall func() time.Time
	// MessageBytesMax, RecipientsMax and IdleMax bound a message, whom it is
	// for, and how long a client may say nothing.
	MessageBytesMax int64
	RecipientsMax   int
	IdleMax         time.Duration
	Log             *slog.Logger
}

// lineBytesMax is the longest line of a message that is taken; RFC 5321 asks for
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

// trace is what RFC 5321 has a server put before a message.
func (s *session) trace() string {
	client := s.conn.Hostname()
	if addr := s.conn.Conn().RemoteAddr(); addr != nil {
		client += " (" + addr.String() + ")"
	}
	return fmt.Sprintf("Return-Path: <%s>\r\nReceived: from %s\r\n\tby %s with ESMTP; %s\r\n",
		oneLine(s.from), oneLine(client), s.options.Domain, s.options.Wall().Format(time.RFC1123Z))
}

// oneLine has a client's words end no line of a header.
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
