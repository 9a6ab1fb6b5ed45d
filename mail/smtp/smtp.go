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

// Store is where mail goes. A message is durable when Deliver returns; it is not
// changed meanwhile. Deliver is safe for concurrent use.
type Store interface {
	Deliver(user uint64, message []byte)
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
	to   []uint64 // each user once, however often it is named
}

var _ gosmtp.Session = (*session)(nil)

// Mail is gosmtp.Session's.
func (s *session) Mail(from string, _ *gosmtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt is gosmtp.Session's.
func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	user, ok := s.options.Lookup(to)
	if !ok {
		return &gosmtp.SMTPError{Code: 550, EnhancedCode: gosmtp.EnhancedCode{5, 1, 1}, Message: "No such user here"}
	}
	if !slices.Contains(s.to, user) {
		s.to = append(s.to, user)
	}
	return nil
}

// Data is gosmtp.Session's. Without an error the client has its acknowledgement.
func (s *session) Data(r io.Reader) error {
	message := bytes.NewBufferString(s.trace())
	if _, err := message.ReadFrom(r); err != nil {
		return err
	}
	for _, user := range s.to {
		s.store.Deliver(user, message.Bytes())
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

// Reset is gosmtp.Session's.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout is gosmtp.Session's.
func (s *session) Logout() error { return nil }
