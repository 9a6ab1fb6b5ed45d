// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/log"
	"github.com/ashlar-dev/ashlar/worm/tx"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// valueView is a value in JSON: Text if it is valid text, and otherwise Base64.
type valueView struct {
	Text   *string `json:"text,omitempty"`
	Base64 []byte  `json:"base64,omitempty"`
}

func viewValue(b []byte) valueView {
	if utf8.Valid(b) {
		s := string(b)
		return valueView{Text: &s}
	}
	return valueView{Base64: b}
}

// timeoutDefault is the default timeout of commands that make one request.
const timeoutDefault = 30 * time.Second

type registerView struct {
	Register string `json:"register"`
	Trimmed  bool   `json:"trimmed,omitempty"`
	valueView
}

func newReadCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "read SEGMENT.OFFSET",
		Short: "Read a register",
		Long: `Read prints the value of a register unchanged. The exit code is 5 if the register is
unwritten or trimmed, or if its segment is not allocated.`,
		Example: `  ashlar worm read 17.0 --cluster cluster.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := parseAddr(args[0])
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				v, err := c.Read(ctx, a)
				if err != nil {
					return fmt.Errorf("register %v: %w", a, err)
				}
				return o.say(registerView{Register: a.String(), valueView: viewValue(v)}, func(w io.Writer) { _, _ = w.Write(v) })
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

// value returns the value given as an argument, or standard input if the
// argument is -.
func value(cmd *cobra.Command, arg string, max int) ([]byte, error) {
	b := []byte(arg)
	if arg == "-" {
		var err error
		if b, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), int64(max)+1)); err != nil {
			return nil, err
		}
	}
	if len(b) > max {
		return nil, usage(fmt.Errorf("the value is longer than %d bytes", max))
	}
	return b, nil
}

func newWriteCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	var alloc uint32
	var protocol string
	var partition uint32
	cmd := &cobra.Command{
		Use:   "write SEGMENT.OFFSET VALUE",
		Short: "Write a register, once",
		Long: `Write writes a register. If VALUE is -, the value is read from standard input. A
register that already has another value keeps it permanently: that value is printed, with
exit code 3. With --alloc the segment is allocated first if necessary. Segments below
4294967296 are free for this; the others belong to logs and to the key-value store.`,
		Example: `  ashlar worm write 17.0 hello --alloc 1000 --cluster cluster.json
  ashlar worm write 17.1 - --cluster cluster.json < picture.png`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := parseAddr(args[0])
			if err != nil {
				return err
			}
			p, err := oneOf("--protocol", protocol, "paxos", "chain", "fast")
			if err != nil {
				return err
			}
			v, err := value(cmd, args[1], wor.ValueMax)
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				if alloc > 0 {
					m := wor.Meta{Owner: c.Nonce(), Partition: wor.Partition(partition), Protocol: wor.Protocol(p), Size: alloc}
					if _, err := c.Alloc(ctx, a.Segment, m); err != nil && !errors.Is(err, wor.ErrWritten) {
						return fmt.Errorf("allocate segment %d: %w", a.Segment, err)
					}
				}
				err := c.Propose(ctx, a, v)
				var other *wor.WrittenError
				if errors.As(err, &other) {
					v = other.Value
				} else if err != nil {
					return fmt.Errorf("register %v: %w", a, err)
				}
				tell := func(w io.Writer) {
					if other != nil {
						_, _ = w.Write(v)
					}
				}
				if err := o.say(registerView{Register: a.String(), valueView: viewValue(v)}, tell); err != nil {
					return err
				}
				return err
			})
		},
	}
	cmd.Flags().Uint32Var(&alloc, "alloc", 0, "allocate the segment with `N` registers if necessary")
	cmd.Flags().StringVar(&protocol, "protocol", "paxos", "the protocol of the registers that --alloc makes: paxos, chain or fast")
	cmd.Flags().Uint32Var(&partition, "partition", 0, "how --alloc places the registers")
	o.add(cmd, timeoutDefault)
	return cmd
}

func newTrimCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:     "trim SEGMENT",
		Short:   "Discard a segment with all its registers, permanently",
		Example: `  ashlar worm trim 17 --cluster cluster.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return usage(fmt.Errorf("segment %q: want a decimal number", args[0]))
			}
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				if err := c.Trim(ctx, wor.Segment(n)); err != nil {
					return fmt.Errorf("segment %d: %w", n, err)
				}
				return o.say(map[string]uint64{"trimmed": n}, func(io.Writer) {})
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

func newLogCommand(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Append to a shared log, read it, follow it",
		Long: fmt.Sprintf(`Logs have numbers, 1 to %d; the first append creates a log. An entry's position is
SEGMENT.REGISTER, two numbers that increase.`, worm.LogMax),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogAppendCommand(t), newLogReadCommand(t), newLogCatCommand(t), newLogTailCommand(t), newLogTrimCommand(t))
	return cmd
}

// withLog opens a log and calls f with it.
func (o *clientFlags) withLog(cmd *cobra.Command, number string, f func(ctx context.Context, l *worm.Log) error) error {
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n < 1 || n > uint64(worm.LogMax) {
		return usage(fmt.Errorf("log %q: want a number from 1 to %d", number, worm.LogMax))
	}
	return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
		l, err := c.Log(ctx, log.ID(n), worm.LogOptions{})
		if err != nil {
			return err
		}
		defer l.Close()
		return f(ctx, l)
	})
}

func parsePosition(s string) (log.Position, error) {
	a, err := parseAddr(s)
	if err != nil || a.Segment > log.IndexMax || a.Offset >= log.SizeMax {
		return 0, usage(fmt.Errorf("position %q: want SEGMENT.REGISTER, as append and tail write it", s))
	}
	return log.At(uint32(a.Segment), a.Offset), nil
}

type positionView struct {
	Position string `json:"position"`
}

func newLogAppendCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "append LOG [TEXT]",
		Short: "Append an entry, or one for each line of the input",
		Long: `Append appends a text, or, without one, each line of standard input, in order, and
prints the position of each once it is durable. If the outcome is unknown (exit code
4) the line may be in the log.`,
		Example: `  ashlar worm log append 7 hello --cluster cluster.json
  journalctl -f | ashlar worm log append 7 --timeout 0 --cluster cluster.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withLog(cmd, args[0], func(ctx context.Context, l *worm.Log) error {
				one := func(b []byte) error {
					at, err := l.Append(ctx, b)
					if err != nil {
						return err
					}
					return o.line(positionView{at.String()}, at.String())
				}
				if len(args) == 2 {
					return one([]byte(args[1]))
				}
				lines := bufio.NewScanner(cmd.InOrStdin())
				lines.Buffer(nil, log.EntryMax)
				for lines.Scan() {
					if err := one(lines.Bytes()); err != nil {
						return err
					}
				}
				return lines.Err()
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

// line writes one of several results.
func (o *clientFlags) line(v any, text string) error {
	if o.json {
		return json.NewEncoder(o.t.Out).Encode(v)
	}
	_, err := fmt.Fprintln(o.t.Out, text)
	return err
}

type entryView struct {
	Position string `json:"position"`
	Kind     string `json:"kind"`
	ID       string `json:"id,omitempty"`
	valueView
}

func viewEntry(e log.Entry) entryView {
	v := entryView{Position: e.Position.String()}
	switch e.Kind {
	case log.Data:
		v.Kind, v.ID, v.valueView = "data", e.ID.String(), viewValue(e.Data)
	case log.Mark:
		v.Kind = "mark"
	default:
		v.Kind = "junk"
	}
	return v
}

func newLogReadCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "read LOG POSITION",
		Short: "Read the entry at a position",
		Long: `Read prints the entry at a position unchanged. The exit code is 5 if the position is
unwritten or trimmed, or holds no entry.`,
		Example: `  ashlar worm log read 7 0.12 --cluster cluster.json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := parsePosition(args[1])
			if err != nil {
				return err
			}
			return o.withLog(cmd, args[0], func(ctx context.Context, l *worm.Log) error {
				e, err := l.Read(ctx, at)
				if err != nil {
					return fmt.Errorf("position %v: %w", at, err)
				}
				v := viewEntry(e)
				if err := o.say(v, func(w io.Writer) { _, _ = w.Write(e.Data) }); err != nil {
					return err
				}
				if e.Kind != log.Data {
					return fmt.Errorf("position %v holds a %s instead of an entry: %w", at, v.Kind, wor.ErrUnwritten)
				}
				return nil
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

func newLogCatCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	var from string
	var follow bool
	cmd := &cobra.Command{
		Use:   "cat LOG",
		Short: "Print the entries of a log, and follow it as it grows",
		Long: `Cat prints the entries of a log in order, one per line, from its beginning or from
--from, up to its tail. With --follow it continues as the log grows, until it is
interrupted, which is then not an error.`,
		Example: `  ashlar worm log cat 7 --cluster cluster.json
  ashlar worm log cat 7 --follow --timeout 0 --json --cluster cluster.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			at := log.Position(0)
			if from != "" {
				var err error
				if at, err = parsePosition(from); err != nil {
					return err
				}
			}
			return o.withLog(cmd, args[0], func(ctx context.Context, l *worm.Log) error {
				entries := l.Follow(ctx, at)
				if !follow {
					tail, err := l.Tail(ctx)
					if err != nil {
						return err
					}
					entries = l.Entries(ctx, at, tail)
				}
				for e, err := range entries {
					if err != nil && follow && cmd.Context().Err() != nil {
						return nil
					}
					if err != nil {
						return err
					}
					if err := o.line(viewEntry(e), string(e.Data)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the first `POSITION`")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "continue as the log grows")
	o.add(cmd, timeoutDefault)
	return cmd
}

func newLogTailCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "tail LOG",
		Short: "Print where a log begins and ends",
		Long: `Tail prints the next position, which is above all appends that have ended. With
--json it also prints the first position that is not trimmed.`,
		Example: `  ashlar worm log tail 7 --cluster cluster.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withLog(cmd, args[0], func(ctx context.Context, l *worm.Log) error {
				head, err := l.Head(ctx)
				if err != nil {
					return err
				}
				tail, err := l.Tail(ctx)
				if err != nil {
					return err
				}
				v := struct {
					Head string `json:"head"`
					Tail string `json:"tail"`
				}{head.String(), tail.String()}
				return o.say(v, func(w io.Writer) { fmt.Fprintln(w, tail) })
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

func newLogTrimCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "trim LOG POSITION",
		Short: "Discard the entries below a position, permanently",
		Long: `Trim discards the entries below a position, rounded down to whole segments, and
frees their memory. The segment in use stays.`,
		Example: `  ashlar worm log trim 7 3.0 --cluster cluster.json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := parsePosition(args[1])
			if err != nil {
				return err
			}
			return o.withLog(cmd, args[0], func(ctx context.Context, l *worm.Log) error {
				if err := l.Trim(ctx, at); err != nil {
					return err
				}
				head, err := l.Head(ctx)
				if err != nil {
					return err
				}
				return o.say(map[string]string{"head": head.String()}, func(w io.Writer) { fmt.Fprintln(w, head) })
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}

// errNotHeld reports that the condition of a change did not hold.
var errNotHeld = errors.New("not done: the key already exists")

func newKVCommand(t *console.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kv",
		Short: "Get and set keys of the key-value store",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var ifAbsent bool
	set := kvCommand(t, "set KEY VALUE", "Set a key; if VALUE is -, it is read from standard input", 2, 2,
		func(ctx context.Context, cmd *cobra.Command, o *clientFlags, kv *worm.KV, args []string) error {
			v, err := value(cmd, args[1], tx.ValueMax)
			if err != nil {
				return err
			}
			var conds []tx.Cond
			if ifAbsent {
				conds = append(conds, tx.Cond{Kind: tx.CondAbsent, Key: args[0]})
			}
			r, err := kv.Do(ctx, conds, tx.Op{Kind: tx.OpPut, Key: args[0], Value: v})
			if err == nil && !r.Held {
				err = errNotHeld
			}
			return err
		})
	set.Flags().BoolVar(&ifAbsent, "if-absent", false, "only if the key is absent; otherwise exit code 3")
	cmd.AddCommand(set,
		kvCommand(t, "get KEY", "Print a key's value unchanged; exit code 5 if there is none", 1, 1,
			func(ctx context.Context, cmd *cobra.Command, o *clientFlags, kv *worm.KV, args []string) error {
				v, err := kv.Get(ctx, args[0])
				if err != nil {
					return err
				}
				return o.say(struct {
					Key string `json:"key"`
					valueView
				}{args[0], viewValue(v)}, func(w io.Writer) { _, _ = w.Write(v) })
			}),
		kvCommand(t, "del KEY...", "Remove keys, all at once, and print how many existed", 1, math.MaxInt,
			func(ctx context.Context, cmd *cobra.Command, o *clientFlags, kv *worm.KV, args []string) error {
				var ops []tx.Op
				for _, key := range args {
					ops = append(ops, tx.Op{Kind: tx.OpDelete, Key: key})
				}
				r, err := kv.Do(ctx, nil, ops...)
				if err != nil {
					return err
				}
				n := 0
				for i := range r.Ops {
					if r.Ops[i].Found {
						n++
					}
				}
				return o.say(map[string]int{"removed": n}, func(w io.Writer) { fmt.Fprintln(w, n) })
			}),
		kvCommand(t, "incr KEY [N]", "Add to a number (by default 1), and print the sum", 1, 2,
			func(ctx context.Context, cmd *cobra.Command, o *clientFlags, kv *worm.KV, args []string) error {
				by := int64(1)
				if len(args) == 2 {
					var err error
					if by, err = strconv.ParseInt(args[1], 10, 64); err != nil {
						return usage(fmt.Errorf("%q is not a number", args[1]))
					}
				}
				n, err := kv.Incr(ctx, args[0], by)
				if err != nil {
					return err
				}
				return o.say(map[string]int64{"value": n}, func(w io.Writer) { fmt.Fprintln(w, n) })
			}))
	return cmd
}

func kvCommand(t *console.Terminal, use, short string, least, most int, f func(context.Context, *cobra.Command, *clientFlags, *worm.KV, []string) error) *cobra.Command {
	o := &clientFlags{t: t}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.RangeArgs(least, most),
		Example: "  ashlar worm kv " + use + " --cluster cluster.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				kv, err := c.KV(ctx)
				if err != nil {
					return err
				}
				defer kv.Close()
				return f(ctx, cmd, o, kv, args)
			})
		},
	}
	o.add(cmd, timeoutDefault)
	return cmd
}
