// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/worm"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// clusterView describes a cluster for people and as JSON.
type clusterView struct {
	Schema     string                 `json:"schema"`
	Cluster    string                 `json:"cluster"`
	Healthy    bool                   `json:"healthy"`
	Trouble    string                 `json:"trouble,omitempty"`
	Partitions []clusterPartitionView `json:"partitions"`
}

type clusterPartitionView struct {
	Number  wor.Partition       `json:"number"`
	Epoch   wor.Epoch           `json:"epoch"`
	Serving int                 `json:"serving"`
	Needed  int                 `json:"needed"`
	Tainted bool                `json:"tainted"`
	Members []clusterMemberView `json:"members"`
}

type clusterMemberView struct {
	Name       string    `json:"name"`
	ID         string    `json:"id"`
	Addr       string    `json:"addr"`
	Answers    bool      `json:"answers"`
	Standing   string    `json:"standing"`
	Epoch      wor.Epoch `json:"epoch"`
	Behind     int64     `json:"epochsBehind"`
	Full       int       `json:"memoryPercent"`
	Generation uint64    `json:"generation"`
	Position   uint64    `json:"position"`
	Trouble    string    `json:"trouble,omitempty"`
}

func viewMember(m *worm.MemberState, newest wor.Epoch) clusterMemberView {
	v := clusterMemberView{
		Name: m.Name, ID: m.ID.String(), Addr: m.Addr, Answers: m.Answers, Epoch: m.Epoch,
		Generation: m.Generation, Position: m.Position, Trouble: m.Trouble, Standing: "does not answer",
	}
	if m.Answers {
		v.Standing, v.Behind, v.Full = standing(m.Standing), int64(newest)-int64(m.Epoch), m.Full
	}
	return v
}

// standing describes a server's own status in words.
func standing(s wor.Status) string {
	switch s {
	case wor.StatusOK:
		return "serving"
	case wor.StatusForeign:
		return "no member"
	case wor.StatusMute:
		return "mute: has lost its state, or cannot confirm that its disk is the newest"
	}
	return s.String()
}

// viewCluster reports the cluster as healthy if all members of all partitions
// serve.
func viewCluster(id uint64, parts []worm.PartitionState, trouble error) clusterView {
	v := clusterView{Schema: "ashlar-worm-cluster/1", Cluster: fmt.Sprintf("%016x", id), Healthy: trouble == nil}
	if trouble != nil {
		v.Trouble = trouble.Error()
	}
	for i := range parts {
		p := &parts[i]
		w := clusterPartitionView{Number: p.Config.Partition, Epoch: p.Config.Epoch, Serving: p.Serving(),
			Needed: wor.Majority(len(p.Members)), Tainted: p.Config.Tainted}
		for j := range p.Members {
			w.Members = append(w.Members, viewMember(&p.Members[j], p.Config.Epoch))
		}
		v.Healthy = v.Healthy && w.Serving == len(w.Members)
		v.Partitions = append(v.Partitions, w)
	}
	return v
}

func (v *clusterView) text(w io.Writer) {
	fmt.Fprintf(w, "cluster %s\n", v.Cluster)
	for i := range v.Partitions {
		p := &v.Partitions[i]
		fmt.Fprintf(w, "partition %d, epoch %d: %d of %d servers serve, %d are needed", p.Number, p.Epoch, p.Serving, len(p.Members), p.Needed)
		if p.Serving < p.Needed {
			fmt.Fprint(w, "; NOT AVAILABLE")
		}
		if p.Tainted {
			fmt.Fprint(w, "; TAINTED: recovered without a majority, data may be missing")
		}
		fmt.Fprintln(w)
		writeMembers(w, p.Members)
	}
	if v.Trouble != "" {
		fmt.Fprintf(w, "the newest configurations could not be read: %s\n", v.Trouble)
	}
}

func writeMembers(w io.Writer, members []clusterMemberView) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, m := range members {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s", m.Name, m.ID, m.Addr, m.Standing)
		if m.Behind > 0 {
			fmt.Fprintf(t, ", %d epochs behind", m.Behind)
		}
		if m.Full >= pressedPercent {
			fmt.Fprintf(t, ", PRESSED: %d%% of the memory for registers (MaxBytes) is used", m.Full)
		}
		if m.Answers {
			fmt.Fprintf(t, "\tstart %d, record %d", m.Generation, m.Position)
		} else if m.Trouble != "" {
			fmt.Fprintf(t, "\t%s", m.Trouble)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// pressedPercent is the fill level from which a server counts as pressed: it will
// soon refuse writes.
const pressedPercent = 70

// learnWithin bounds the time in which status tries to learn the newest
// configurations.
const learnWithin = 3 * time.Second

// errUnavailable reports that a partition has no majority.
var errUnavailable = errors.New("a partition has no majority that serves")

func newStatusCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of all servers of a cluster",
		Long: `Status asks every server of every partition for its state, and shows the newest
configurations. It also works when there is no majority; the exit code is then 1.`,
		Example: `  ashlar worm status --cluster cluster.json
  ashlar worm status --cluster cluster.json --json | jq .healthy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				ctx, cancel := context.WithTimeout(ctx, learnWithin)
				defer cancel()
				parts, trouble := c.Inspect(ctx)
				if parts == nil {
					return trouble
				}
				v := viewCluster(c.Genesis().Cluster, parts, trouble)
				if err := o.say(v, v.text); err != nil {
					return err
				}
				for _, p := range v.Partitions {
					if p.Serving < p.Needed {
						return errUnavailable
					}
				}
				return nil
			})
		},
	}
	o.add(cmd, 30*time.Second)
	return cmd
}

// resolve finds the server to which a user refers: NAME=ID@ADDR, or the name or
// identity of a present or former server of the cluster.
func resolve(c *worm.Client, known []wor.Member, s string) (wor.Member, error) {
	if strings.Contains(s, "=") {
		m, err := access.ParseMember(s)
		if err != nil {
			return m, usage(err)
		}
		return m, nil
	}
	for _, p := range c.Genesis().Partitions {
		known = worm.Union(known, p.Members)
	}
	var found []wor.Member
	for _, m := range known {
		if m.Name == s || m.ID.String() == s {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return wor.Member{}, usage(fmt.Errorf("there is no server %q; 'ashlar worm status' shows them", s))
	}
	return wor.Member{}, usage(fmt.Errorf("there are %d servers named %q: give the identity instead of the name", len(found), s))
}

// change is the result of a change of servers.
type change struct {
	Schema  string                 `json:"schema"`
	Done    string                 `json:"done"`
	Checked []clusterPartitionView `json:"checked,omitempty"`
	New     *clusterMemberView     `json:"new,omitempty"`
	Configs []clusterPartitionView `json:"partitions"`
}

// watch prints progress without blocking the caller of tell. Stop ends it.
func (o *clientFlags) watch() (tell func(worm.Progress), stop func()) {
	if o.json {
		return nil, func() {}
	}
	lines, done := make(chan string, 256), make(chan struct{})
	go func() {
		defer close(done)
		last := ""
		for l := range lines {
			if l != last {
				fmt.Fprintf(o.t.Out, "  %s\n", l)
			}
			last = l
		}
	}()
	over := false
	tell = func(p worm.Progress) {
		if !over {
			select {
			case lines <- p.String():
			default: // the reader is slow: this step is not shown
			}
		}
	}
	return tell, func() {
		over = true
		close(lines)
		<-done
	}
}

// A new server may take muteWait to find out that it is not yet a member. The
// command asks it every muteEvery.
const (
	muteWait  = 10 * time.Second
	muteEvery = 100 * time.Millisecond
)

func newReplaceCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	var with string
	cmd := &cobra.Command{
		Use:   "replace DEAD --with NAME=ID@ADDR",
		Short: "Replace a server by a new one, in all partitions",
		Long: `Replace replaces the server with the name or identity DEAD by a new one, which
'ashlard format' has made and which must be running. It checks before it acts: in each
partition that has the dead server, all others must serve the newest epoch, and the
new one must answer and not be a member yet. It prints what it has found. If a check
fails, nothing is changed, and the exit code is 3.

If it was interrupted, run it again: it continues. The old server may be dead or
alive; it is never contacted again.`,
		Example: `  ashlard format /var/lib/ashlard --name n4 --addr 10.0.0.4:7420
  ashlard serve /var/lib/ashlard --cluster cluster.json --listen 10.0.0.4:7420 &
  ashlar worm replace n2 --with n4=9b1e...@10.0.0.4:7420 --cluster cluster.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			fresh, err := access.ParseMember(with)
			if err != nil {
				return usage(fmt.Errorf("--with: %w", err))
			}
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				return o.replace(ctx, c, args[0], fresh)
			})
		},
	}
	cmd.Flags().StringVar(&with, "with", "", "the new server, `NAME=ID@ADDR`, as 'ashlard format' has printed it")
	o.add(cmd, 10*time.Minute)
	return cmd
}

func (o *clientFlags) replace(ctx context.Context, c *worm.Client, name string, fresh wor.Member) error {
	known, err := c.Members(ctx)
	if err != nil {
		return err
	}
	dead, err := resolve(c, known, name)
	if err != nil {
		return err
	}
	result := change{Schema: "ashlar-worm-change/1", Done: fmt.Sprintf("%s has replaced %s", fresh.Name, dead.Name)}
	parts, err := c.Inspect(ctx)
	if err != nil {
		return err
	}
	v := viewCluster(c.Genesis().Cluster, parts, nil)
	for i := range parts {
		if parts[i].Config.Index(dead.ID) >= 0 {
			result.Checked = append(result.Checked, v.Partitions[i])
		}
	}
	state, err := c.Probe(fresh, 0)
	for until := time.Now().Add(muteWait); err == nil && state.Answers && state.Standing == wor.StatusMute && time.Now().Before(until); {
		// The server has just started and is still asking its peers.
		select {
		case <-time.After(muteEvery):
			state, err = c.Probe(fresh, 0)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	newcomer := viewMember(&state, 0)
	newcomer.Behind = 0
	result.New = &newcomer
	out := o.t.Out
	if !o.json {
		fmt.Fprintf(out, "replace %s (%v) with %s (%v)\nchecked:\n", dead.Name, dead.ID, fresh.Name, fresh.ID)
		for i := range result.Checked {
			p := &result.Checked[i]
			fmt.Fprintf(out, "partition %d, epoch %d: %d of %d servers serve\n", p.Number, p.Epoch, p.Serving, len(p.Members))
			writeMembers(out, p.Members)
		}
		fmt.Fprintln(out, "the new server:")
		writeMembers(out, []clusterMemberView{newcomer})
	}
	progress, stop := o.watch()
	err = c.Replace(ctx, dead.ID, fresh, progress)
	c.Sync(stop)
	if err != nil {
		return err
	}
	return o.changed(ctx, c, result)
}

// settleWithin bounds the wait for members that answer but do not serve yet. A
// change is complete when a majority serves; the others follow.
const settleWithin = 5 * time.Second

// changed shows the state of the cluster after a change.
func (o *clientFlags) changed(ctx context.Context, c *worm.Client, result change) error {
	parts, err := settle(ctx, c.Inspect)
	if err != nil {
		return err
	}
	v := viewCluster(c.Genesis().Cluster, parts, nil)
	result.Configs = v.Partitions
	return o.say(result, func(w io.Writer) {
		fmt.Fprintf(w, "done: %s\n", result.Done)
		v.text(w)
	})
}

// settle looks at the partitions until all members follow, for settleWithin at
// most. The change is done by then: if the context ends meanwhile, or a later look
// fails, it returns what was seen last.
func settle(ctx context.Context, inspect func(context.Context) ([]worm.PartitionState, error)) ([]worm.PartitionState, error) {
	parts, err := inspect(ctx)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(settleWithin); settling(parts) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return parts, nil
		case <-time.After(50 * time.Millisecond):
		}
		next, err := inspect(ctx)
		if err != nil {
			return parts, nil
		}
		parts = next
	}
	return parts, nil
}

// settling reports whether a member is about to serve: it answers, and is in an
// earlier epoch than the others.
func settling(parts []worm.PartitionState) bool {
	for i := range parts {
		for _, m := range parts[i].Members {
			if m.Answers && m.Epoch < parts[i].Config.Epoch {
				return true
			}
		}
	}
	return false
}

// parseTarget reads PARTITION SERVER...
func parseTarget(ctx context.Context, c *worm.Client, args []string, learn bool) (wor.Partition, []wor.Member, error) {
	n, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || n >= uint64(len(c.Genesis().Partitions)) {
		return 0, nil, usage(fmt.Errorf("partition %q: want 0 to %d", args[0], len(c.Genesis().Partitions)-1))
	}
	var known []wor.Member
	if learn {
		if known, err = c.Members(ctx); err != nil {
			return 0, nil, err
		}
	}
	var members []wor.Member
	for _, s := range args[1:] {
		m, err := resolve(c, known, s)
		if err != nil {
			return 0, nil, err
		}
		members = append(members, m)
	}
	if err := worm.CheckMembers(members); err != nil {
		return 0, nil, usage(err)
	}
	return wor.Partition(n), members, nil
}

func newReconfigureCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	cmd := &cobra.Command{
		Use:   "reconfigure PARTITION SERVER...",
		Short: "Choose the servers of a partition",
		Long: `Reconfigure makes these servers the members of a partition from its next epoch on: to
add servers, to remove some, or to change their order, which is the order of a chain.
SERVER is the name or identity of a server of the cluster, or NAME=ID@ADDR. The
partition is unavailable while its state is copied, which takes seconds for gigabytes.
To replace a dead server, use 'ashlar worm replace', which checks more.`,
		Example: `  ashlar worm reconfigure 0 n1 n2 n3 n4=9b1e...@10.0.0.4:7420 n5=...@10.0.0.5:7420 --cluster cluster.json`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				p, members, err := parseTarget(ctx, c, args, true)
				if err != nil {
					return err
				}
				progress, stop := o.watch()
				cfg, err := c.Reconfigure(ctx, p, members, progress)
				c.Sync(stop)
				if errors.Is(err, wor.ErrWritten) {
					return fmt.Errorf("%w: another command has reconfigured partition %d at the same time; see 'ashlar worm status'", worm.ErrRefused, p)
				}
				if err != nil {
					return err
				}
				return o.changed(ctx, c, change{Schema: "ashlar-worm-change/1", Done: fmt.Sprintf("partition %d is in epoch %d", p, cfg.Epoch)})
			})
		},
	}
	o.add(cmd, 10*time.Minute)
	return cmd
}

// consent is the text that the operator must type to give up data that a
// majority had.
const consent = "data-may-be-lost"

func newUnsafeRecoverCommand(t *console.Terminal) *cobra.Command {
	o := clientFlags{t: t}
	var accept, description string
	cmd := &cobra.Command{
		Use:   "unsafe-recover PARTITION SERVER... --accept " + consent,
		Short: "Continue without a majority that is permanently lost; DATA MAY BE LOST",
		Long: `Unsafe-recover is the last resort, when a majority of a partition's servers is
permanently lost, with their disks. It makes these servers the members of the partition,
with the data of the old members that still answer. Acknowledged data may be missing,
and values that were read may change. From then on the partition is marked as tainted.

It refuses while a majority answers. If the disks still exist, bring the servers back
instead. Only one operator may run it, once.

Partition 0 has the registers that decide who the servers are. If these are lost, no
server believes a client that names others. So for partition 0 the command prepares
the new servers, and writes a new description: stop all remaining servers, start each
with it, and give it to all clients.`,
		Example: `  ashlar worm unsafe-recover 1 n1 n4=...@10.0.0.4:7420 n5=...@10.0.0.5:7420 --accept data-may-be-lost --cluster cluster.json
  ashlar worm unsafe-recover 0 n1 n4=...@10.0.0.4:7420 n5=...@10.0.0.5:7420 --accept data-may-be-lost --cluster cluster.json --description recovered.json
  ashlard serve /var/lib/ashlard --cluster recovered.json ...           # each of n1, n4, n5`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if accept != consent {
				return usage(fmt.Errorf("this can lose data permanently; to proceed, pass --accept %s (got %q)", consent, accept))
			}
			if args[0] == "0" && description == "" {
				return usage(errors.New("--description is missing: name the file for the new description, with which the servers of partition 0 must be started"))
			}
			return o.run(cmd, func(ctx context.Context, c *worm.Client) error {
				p, members, err := parseTarget(ctx, c, args, false)
				if err != nil {
					return err
				}
				fmt.Fprintf(o.t.Err, "WARNING: recovering partition %d without a majority: acknowledged data may be missing from now on\n", p)
				progress, stop := o.watch()
				cfg, err := c.UnsafeRecover(ctx, p, members, progress)
				c.Sync(stop)
				if err != nil {
					return err
				}
				if p == 0 {
					return o.consented(c, cfg, description)
				}
				return o.changed(ctx, c, change{Schema: "ashlar-worm-change/1", Done: fmt.Sprintf("partition %d is in epoch %d, and TAINTED", p, cfg.Epoch)})
			})
		},
	}
	cmd.Flags().StringVar(&accept, "accept", "", "`WHAT` you accept: "+consent)
	cmd.Flags().StringVar(&description, "description", "", "the `FILE` for the new description; required for partition 0")
	o.add(cmd, 10*time.Minute)
	return cmd
}

// consented writes the description by which operators consent to an undecided
// configuration of partition 0.
func (o *clientFlags) consented(c *worm.Client, cfg *wor.Config, file string) error {
	g := *c.Genesis()
	g.Known = slices.Clone(g.Known)
	access.Remember(&g, []wor.Config{*cfg})
	if err := access.Write(file, &g); err != nil {
		return err
	}
	result := change{Schema: "ashlar-worm-change/1", Done: fmt.Sprintf("partition 0 is prepared for epoch %d, TAINTED; it continues when its servers are started with %s", cfg.Epoch, file)}
	return o.say(result, func(w io.Writer) {
		fmt.Fprintf(w, "done: %s\nstop all remaining servers, start each with --cluster %s, and give it to all clients; the members are:\n", result.Done, file)
		for _, m := range cfg.Members {
			fmt.Fprintf(w, "  %s  %v  %s\n", m.Name, m.ID, m.Addr)
		}
	})
}

// parseAddr reads SEGMENT.OFFSET.
func parseAddr(s string) (wor.Addr, error) {
	segment, offset, ok := strings.Cut(s, ".")
	n, err := strconv.ParseUint(segment, 10, 64)
	o, err2 := strconv.ParseUint(offset, 10, 32)
	if !ok || err != nil || err2 != nil {
		return wor.Addr{}, usage(fmt.Errorf("register %q: want SEGMENT.OFFSET, two decimal numbers", s))
	}
	return wor.Addr{Segment: wor.Segment(n), Offset: uint32(o)}, nil
}

// oneOf matches an argument against a list of words.
func oneOf(what, s string, words ...string) (int, error) {
	if i := slices.Index(words, s); i >= 0 {
		return i, nil
	}
	return 0, usage(fmt.Errorf("%s %q: want one of %s", what, s, strings.Join(words, ", ")))
}
