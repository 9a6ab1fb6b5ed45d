package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// clientFlags are those of a command that asks a cluster.
type clientFlags struct {
	cluster                string
	timeout                time.Duration
	json                   bool
	tlsCert, tlsKey, tlsCA string
}

func (o *clientFlags) add(cmd *cobra.Command, timeout time.Duration) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.cluster, "cluster", "", "the cluster's description, `FILE`, from 'ashlard genesis'")
	f.DurationVar(&o.timeout, "timeout", timeout, "give up after that; 0 is never")
	f.BoolVar(&o.json, "json", false, "answer in JSON")
	f.StringVar(&o.tlsCert, "tls-cert", "", "the certificate to show, `FILE` in PEM")
	f.StringVar(&o.tlsKey, "tls-key", "", "its key, `FILE` in PEM")
	f.StringVar(&o.tlsCA, "tls-ca", "", "who may have signed the servers' certificates, `FILE` in PEM")
}

// run opens a client of the cluster for f.
func (o *clientFlags) run(cmd *cobra.Command, f func(ctx context.Context, c *worm.Client) error) error {
	if some, all := o.tlsCert != "" || o.tlsKey != "" || o.tlsCA != "", o.tlsCert != "" && o.tlsKey != "" && o.tlsCA != ""; some && !all {
		return usage(errTLS)
	}
	if o.timeout < 0 {
		return usage(fmt.Errorf("--timeout %v: want a time that is not negative", o.timeout))
	}
	genesis, err := readGenesis(o.cluster)
	if err != nil {
		return err
	}
	security, err := loadTLS(o.tlsCert, o.tlsKey, o.tlsCA)
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
	return explain(cmd.Context(), o.timeout, f(ctx, c))
}

var errTLS = errors.New("--tls-cert, --tls-key and --tls-ca belong together: each side must know whom it talks to")

// explain says of an error that the time was over what the time was.
func explain(ctx context.Context, timeout time.Duration, err error) error {
	if errors.Is(err, wor.ErrDeadline) && timeout > 0 && ctx.Err() == nil {
		return fmt.Errorf("%w after --timeout %v: is a majority of the servers up?", err, timeout)
	}
	return err
}

// say writes a result: as JSON, or as text tells it.
func (o *clientFlags) say(cmd *cobra.Command, v any, text func(w io.Writer)) error {
	if !o.json {
		text(cmd.OutOrStdout())
		return nil
	}
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(v)
}
