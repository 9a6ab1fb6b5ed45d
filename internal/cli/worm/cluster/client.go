// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/secure"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/internal/worm/wire"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// clientFlags are the flags of a command that sends requests to a cluster.
type clientFlags struct {
	t            *console.Terminal
	cluster      string
	timeout      time.Duration
	json         bool
	certificates secure.Certificates
}

func (o *clientFlags) add(cmd *cobra.Command, timeout time.Duration) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.cluster, "cluster", "", "the cluster's description, `FILE`, from 'ashlard genesis'")
	f.DurationVar(&o.timeout, "timeout", timeout, "give up after this time; 0 is never")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.StringVar(&o.certificates.Cert, "tls-cert", "", "the certificate to show, `FILE` in PEM")
	f.StringVar(&o.certificates.Key, "tls-key", "", "its key, `FILE` in PEM")
	f.StringVar(&o.certificates.CA, "tls-ca", "", "the authority that signs the servers' certificates, `FILE` in PEM")
}

// run opens a client of the cluster for f.
func (o *clientFlags) run(cmd *cobra.Command, f func(ctx context.Context, c *worm.Client) error) error {
	if o.timeout < 0 {
		return usage(fmt.Errorf("--timeout %v: want a time that is not negative", o.timeout))
	}
	genesis, err := access.Read(o.cluster)
	if err != nil {
		return err
	}
	security, err := o.certificates.Load()
	if err != nil {
		return err
	}
	c, err := worm.Open(worm.Options{Genesis: genesis, TLS: security})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := cmd.Context()
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	err = f(ctx, c)
	if !errors.Is(err, wor.ErrDeadline) || o.timeout == 0 || cmd.Context().Err() != nil {
		return err
	}
	return fmt.Errorf("%w after --timeout %v: %s", err, o.timeout, o.explain(cmd.Context(), c))
}

// explainWithin bounds the time for finding out why a command timed out.
const explainWithin = 2 * time.Second

// explain adds the state of the servers to the error of a command that timed
// out.
func (o *clientFlags) explain(ctx context.Context, c *worm.Client) string {
	ctx, cancel := context.WithTimeout(ctx, explainWithin)
	defer cancel()
	parts, err := c.Inspect(ctx)
	if parts == nil {
		return fmt.Sprintf("and the servers did not report why: %v", err)
	}
	var why []string
	for i := range parts {
		p := &parts[i]
		for j := range p.Members {
			if text := o.trouble(&p.Members[j], p.Config.Epoch); text != "" {
				why = append(why, fmt.Sprintf("%s at %s of partition %d %s", p.Members[j].Name, p.Members[j].Addr, p.Config.Partition, text))
			}
		}
	}
	if len(why) == 0 {
		return "all servers answer and serve: the work takes longer than that, or other clients keep them busy"
	}
	return strings.Join(why, "; ")
}

// trouble returns what is wrong with a server, or "" if nothing is.
func (o *clientFlags) trouble(m *worm.MemberState, newest wor.Epoch) string {
	switch {
	case !m.Answers && strings.Contains(m.Trouble, wire.Unwelcomed) && o.certificates.Cert == "":
		return "does not answer (" + m.Trouble + "): if it was started with --tls-cert, this command needs --tls-cert, --tls-key and --tls-ca, too"
	case !m.Answers && o.certificates.Cert != "" && strings.Contains(m.Trouble, "EOF"):
		return "does not answer (" + m.Trouble + "): if it was started without --tls-cert, omit --tls-cert, --tls-key and --tls-ca"
	case !m.Answers && m.Trouble != "":
		return "does not answer (" + m.Trouble + ")"
	case !m.Answers:
		return "does not answer"
	case m.Standing != wor.StatusOK || m.Epoch != newest:
		return "is " + standing(m.Standing)
	case m.Full >= pressedPercent:
		return fmt.Sprintf("uses %d%% of its memory for registers (MaxBytes) and refuses writes: trim, or give it a larger --memory", m.Full)
	}
	return ""
}

// say writes a result, as JSON or as text.
func (o *clientFlags) say(v any, text func(w io.Writer)) error {
	if o.json {
		return o.t.JSON(v)
	}
	text(o.t.Out)
	return nil
}
