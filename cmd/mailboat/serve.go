// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/internal/cli/ending"
	"github.com/ashlar-dev/ashlar/mail/mailboat"
	"github.com/ashlar-dev/ashlar/mail/pop3"
	"github.com/ashlar-dev/ashlar/mail/smtp"
)

// config is the parsed command line.
type config struct {
	dir, smtp, pop3, domain, passwords string
	users                              uint64
	messageBytesMax                    int64
	recipientsMax                      int
	spaceReserve                       int64
	mailboxBytesMax, sessionsBytesMax  int64
	limits                             limits
	grace                              time.Duration
	verbose                            bool
}

// usersMax bounds the number of directories of a store, which keeps them all
// open.
const usersMax = 10_000

func newServeCommand() *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve the mail store in a directory",
		Long: `Serve runs the mail store in a directory, which is created if it does not exist. The
users are user0, user1, and so on; the server accepts mail for userN@DOMAIN.

The server listens on loopback only, unless --smtp or --pop3 say otherwise. POP3 then
needs a file of passwords, since otherwise anyone could read all mail. Without a file,
any password is accepted. There is no TLS.

Work is refused before a resource runs out: mail with 452 if the disk or a mailbox is
full, connections if their address already has its share. docs/mail.md lists all limits.

SIGINT and SIGTERM stop it: it accepts no more connections, waits for open ones up to
--grace, and ends. It may also be killed at any time.`,
		Example: `  mailboat serve /var/mail/boat --users 3
  mailboat serve /var/mail/boat --passwords passwords --pop3 0.0.0.0:110 --domain example.org`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.dir = args[0]
			return serve(cmd.Context(), c, func(smtp, pop3 net.Addr) {
				fmt.Fprintf(cmd.OutOrStdout(), "smtp on %s, pop3 on %s\n", smtp, pop3)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.smtp, "smtp", "127.0.0.1:2525", "address for SMTP; port 0 is any free port")
	f.StringVar(&c.pop3, "pop3", "127.0.0.1:2110", "address for POP3; port 0 is any free port")
	f.StringVar(&c.domain, "domain", "localhost", "the domain of the addresses")
	f.StringVar(&c.passwords, "passwords", "", "file of passwords, lines of 'mailboat password'")
	f.Uint64Var(&c.users, "users", 100, "number of users")
	f.Int64Var(&c.messageBytesMax, "message-bytes-max", 10<<20, "largest message that is accepted")
	f.IntVar(&c.recipientsMax, "recipients-max", 50, "most recipients of a message")
	f.Int64Var(&c.mailboxBytesMax, "mailbox-bytes-max", 64<<20, "most mail of a user; more is refused until some is deleted")
	f.Int64Var(&c.sessionsBytesMax, "sessions-bytes-max", 512<<20, "most mail that POP3 sessions have in memory together")
	f.Int64Var(&c.spaceReserve, "space-reserve", 64<<20, "bytes of the disk that mail leaves free")
	f.IntVar(&c.limits.most, "connections-max", 64, "most connections at once, of each protocol")
	f.IntVar(&c.limits.perAddress, "address-connections-max", 0, "most of them from one address (default three quarters)")
	f.DurationVar(&c.limits.idle, "idle", 5*time.Minute, "how long a client may send nothing")
	f.DurationVar(&c.limits.command, "command", time.Minute, "how long a line may take, from its first byte to its end")
	f.DurationVar(&c.limits.session, "session", time.Hour, "how long a connection may last")
	f.DurationVar(&c.limits.stall, "stall", 10*time.Second, "how long a connection may go without a complete line before a new one may replace it")
	f.DurationVar(&c.grace, "grace", 5*time.Second, "how long a stop waits for connections")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "log each delivery and each session")
	return cmd
}

// check returns an error for an invalid command line.
func (c config) check() error {
	switch {
	case c.users == 0 || c.users > usersMax:
		return fmt.Errorf("--users is %d, want 1 to %d", c.users, usersMax)
	case c.messageBytesMax < 1 || c.limits.most < 1 || c.recipientsMax < 1:
		return errors.New("--message-bytes-max, --connections-max and --recipients-max must be at least 1")
	case c.limits.perAddress < 1 || c.limits.perAddress > c.limits.most:
		return fmt.Errorf("--address-connections-max is %d, want 1 to --connections-max, %d", c.limits.perAddress, c.limits.most)
	case c.mailboxBytesMax < c.messageBytesMax || c.sessionsBytesMax < c.mailboxBytesMax:
		return errors.New("a message must fit into --mailbox-bytes-max, and that into --sessions-bytes-max")
	case c.spaceReserve < 0:
		return errors.New("--space-reserve must not be negative")
	case c.limits.idle <= 0 || c.limits.command <= 0 || c.limits.session <= 0 || c.limits.stall <= 0 || c.grace < 0:
		return errors.New("--idle, --command, --session and --stall must be positive, and --grace must not be negative")
	}
	if most, known := descriptorsMax(); known && c.descriptors() > most {
		return fmt.Errorf("the process may open %d files, and needs %d for --users %d and --connections-max %d: raise the limit (ulimit -n %[2]d) or lower these",
			most, c.descriptors(), c.users, c.limits.most)
	}
	if c.passwords != "" {
		return nil
	}
	host, _, err := net.SplitHostPort(c.pop3)
	if err != nil {
		return fmt.Errorf("--pop3: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--pop3 %s can be reached from other machines: add --passwords", c.pop3)
	}
	return nil
}

// descriptorsRest is the number of file descriptors for everything except the
// store and connections: standard streams, the lock, listeners, the runtime's
// own, and a file that is being read.
const descriptorsRest = 32

// descriptors returns how many files may be open at once: two for each directory;
// for each connection its socket, a socket that is about to be refused or to
// replace it, and a file that is being written or read; and for each delivery
// that waits for room.
func (c config) descriptors() uint64 {
	return 2*(c.users+1) + 2*4*uint64(c.limits.most) + descriptorsRest
}

// dirs returns the directories of a mail/mailboat store.
func dirs(users uint64) []string {
	names := []string{"spool"}
	for u := range users {
		names = append(names, fmt.Sprint("user", u))
	}
	return names
}

// serve serves until the context ends. It calls ready when it listens.
func serve(ctx context.Context, c config, ready func(smtp, pop3 net.Addr)) (err error) {
	if c.limits.perAddress == 0 {
		c.limits.perAddress = max(1, c.limits.most*3/4)
	}
	if err := c.check(); err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	u := users{count: c.users, domain: c.domain}
	if c.passwords != "" {
		if err := u.readPasswords(c.passwords); err != nil {
			return err
		}
	}
	if err := makeDir(c.dir); err != nil {
		return err
	}
	files, err := filesys.Open(c.dir, dirs(c.users))
	if err != nil {
		return err
	}
	store := &guard{
		log: log, free: func() (int64, error) { return freeBytes(c.dir) }, reserve: c.spaceReserve,
		mailboxMax: c.mailboxBytesMax, sessionsMax: c.sessionsBytesMax,
		runningMax: c.limits.most, patience: c.limits.command, ended: make(chan struct{}),
	}
	defer func() {
		// A delivery that waits for room ends with the process, as in a crash.
		if store.idle() {
			err = errors.Join(err, files.Shut())
		}
	}()
	store.store = mailboat.Open(files, c.users)
	if err := store.countMail(c.dir, c.users); err != nil {
		return err
	}

	in, err := listen(c.smtp, c.limits, "421 4.7.0 too many connections from your address, try again later")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := listen(c.pop3, c.limits, "-ERR [SYS/TEMP] too many connections from your address, try again later")
	if err != nil {
		return err
	}
	defer out.Close()
	ready(in.Addr(), out.Addr())
	return run(ctx, c, log, u, store, in, out)
}

// makeDir creates a directory and its parents durably: if the name of a
// directory is lost, so is the mail in it. An existing directory may come from
// a server that was killed before the name was durable, so makeDir syncs
// existing ones, too.
func makeDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		f, err := os.Open(parent)
		if errors.Is(err, fs.ErrPermission) {
			return nil // the directories from here on are not ours
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("sync directory %s: %w", parent, err)
		}
		if parent == filepath.Dir(parent) {
			return nil
		}
	}
}

// acceptPause is how long to wait after a failed accept.
const acceptPause = 100 * time.Millisecond

// run serves both protocols until the context ends, or SMTP fails.
func run(parent context.Context, c config, log *slog.Logger, u users, store *guard, in, out *listener) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	mailIn := smtp.NewServer(store, smtp.Options{
		Domain: c.domain, Lookup: u.lookup, Wall: time.Now, MessageBytesMax: c.messageBytesMax,
		RecipientsMax: c.recipientsMax, IdleMax: c.limits.idle, Log: log,
	})
	mailOut := pop3.New(store, pop3.Options{Login: u.login, Log: log})

	var wait sync.WaitGroup // for all that uses the store
	wait.Go(func() {
		if err := mailIn.Serve(in); err != nil && ctx.Err() == nil {
			cancel(fmt.Errorf("smtp: %w", err))
		}
	})
	wait.Go(func() {
		for {
			conn, err := out.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // of too many open files, say
				log.Warn("pop3", "error", err)
				select {
				case <-time.After(acceptPause):
				case <-ctx.Done():
				}
				continue
			}
			wait.Go(func() {
				defer conn.Close()
				if err := mailOut.Serve(conn); err != nil {
					log.Info("pop3", "client", conn.RemoteAddr(), "error", err)
				}
			})
		}
	})
	ending.From(parent).Serve(c.grace)
	<-ctx.Done()
	log.Info("stopping", "grace", c.grace)
	out.Close()
	stop, stopped := context.WithTimeout(context.WithoutCancel(ctx), c.grace)
	defer stopped()
	context.AfterFunc(stop, func() {
		close(store.ended)
		in.cut()
		out.cut()
	})
	// serve closes its listener and waits for its connections. They end when
	// they are cut at the latest.
	if err := mailIn.Shutdown(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, net.ErrClosed) {
		log.Warn("smtp", "error", err)
	}
	wait.Wait()
	if parent.Err() == nil {
		return context.Cause(ctx)
	}
	return nil // as it was asked to
}
