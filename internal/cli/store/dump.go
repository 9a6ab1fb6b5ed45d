// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/store/branch"
	"github.com/ashlar-dev/ashlar/internal/store/inspect"
	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/internal/store/trunk"
	"github.com/ashlar-dev/ashlar/store"
)

const dumpHelp = `Dump shows the contents of a store's files: both superblocks, the table, the trunk
with the branches that it refers to in each range of keys, the branches, and the
segments of the journal. With --keys it shows messages instead: first those of
memtables, then by ranges of keys, in each range from the newest branch to the oldest.
Keys of keyspaces come last, as they are stored, or with --keyspace without their
prefix.

It changes nothing. It shows as much as it can of a damaged store.

Exit codes: 0 shown; 150 something is damaged; 130 interrupted; 1 files; 2 usage.`

// dumpOptions are the flags of store dump.
type dumpOptions struct {
	shared
	keys     bool
	keyspace string
}

func newDumpCommand(t *console.Terminal) *cobra.Command {
	var o dumpOptions
	cmd := &cobra.Command{
		Use:   "dump DIR [--keys [LO [HI]]]",
		Short: "Show the contents of a store's files",
		Long:  dumpHelp,
		Example: `  ashlar store dump /var/lib/app/db
  ashlar store dump db --keys
  ashlar store dump db --keys user/100 user/200
  ashlar store dump db --keys --keyspace users
  ashlar store dump --json db | jq '.branches | length'`,
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && !o.keys {
				return exit.With(exit.Usage, errors.New("bounds of keys without --keys"))
			}
			if o.keyspace != "" && !o.keys {
				return exit.With(exit.Usage, errors.New("--keyspace without --keys"))
			}
			return runDump(cmd.Context(), t, o, args[0], args[1:])
		},
	}
	o.flags(cmd, "ashlar-store-dump/1")
	cmd.Flags().BoolVar(&o.keys, "keys", false, "show messages of keys from LO up to, but excluding, HI")
	cmd.Flags().StringVar(&o.keyspace, "keyspace", "", "with --keys: show the keys of the keyspace `NAME`")
	return cmd
}

func runDump(ctx context.Context, t *console.Terminal, o dumpOptions, dir string, bounds []string) error {
	s, err := openDir(dir, true)
	if err != nil {
		return err
	}
	defer s.close()
	w := bufio.NewWriter(t.Out)
	if o.keys {
		err = dumpKeys(ctx, s, o, bounds, w)
	} else {
		err = dumpFiles(s, o, w)
	}
	if e := w.Flush(); e != nil {
		return exit.Failed(e)
	}
	switch {
	case ctx.Err() != nil:
		return exit.Stopped(ctx)
	case errors.Is(err, store.ErrCorrupt) || errors.Is(err, errDamaged):
		return exit.With(exit.Spec, err)
	}
	return exit.Failed(err)
}

// errDamaged reports that damage prevented a complete dump.
var errDamaged = errors.New("the store is damaged")

// dumpKeys shows messages.
func dumpKeys(ctx context.Context, s *opened, o dumpOptions, bounds []string, w io.Writer) error {
	var lo, hi []byte
	if len(bounds) > 0 {
		lo = []byte(bounds[0])
	}
	if len(bounds) > 1 {
		hi = []byte(bounds[1])
	}
	db, err := s.read(o.options())
	if err != nil {
		return err
	}
	defer db.Close()
	show := showMessage
	if o.json {
		show = showMessageJSON
	}
	messages := db.Messages
	if o.keyspace != "" {
		k, err := db.Keyspace(o.keyspace)
		if err != nil {
			return err
		}
		messages = k.Messages
	}
	return messages(lo, hi, func(where string, m message.Message) bool {
		return show(w, where, m) == nil && ctx.Err() == nil
	})
}

// valueShown is the number of bytes of a value that dump shows.
const valueShown = 64

func showMessage(w io.Writer, where string, m message.Message) error {
	text := fmt.Sprintf("  %d bytes %q", len(m.Value), m.Value[:min(len(m.Value), valueShown)])
	if len(m.Value) > valueShown {
		text += "..."
	}
	switch ref, ok := message.DecodeBlobRef(m.Value); {
	case m.Kind == message.Delete:
		text = ""
	case m.Kind == message.RangeDelete:
		text = fmt.Sprintf("  up to %q", m.Value)
	case m.Kind == message.Blob && ok:
		text = fmt.Sprintf("  %d bytes at byte %d, checksum %08x", ref.Len, ref.Addr, ref.CRC)
	}
	_, err := fmt.Fprintf(w, "%-14s %-12s %10d  %q%s\n", where, m.Kind, m.Seq, m.Key, text)
	return err
}

func showMessageJSON(w io.Writer, where string, m message.Message) error {
	_, err := fmt.Fprintf(w, `{"where":%q,"kind":%q,"seq":%d,"key":%s,"bytes":%d,"value":%s}`+"\n",
		where, m.Kind, m.Seq, jsonText(m.Key), len(m.Value), jsonText(m.Value))
	return err
}

// dumpFiles shows everything except messages.
func dumpFiles(s *opened, o dumpOptions, w io.Writer) error {
	a, err := inspect.Look(s.disk, s.name)
	if err != nil {
		return err
	}
	if o.json {
		err = dumpJSON(s.dir, &a, w)
	} else {
		err = dumpText(&a, w)
	}
	if err == nil && (len(a.Damage) > 0 || a.Table == nil) {
		err = fmt.Errorf("%w: see ashlar store verify %s", errDamaged, s.dir)
	}
	return err
}

func dumpText(a *inspect.Anatomy, w io.Writer) error {
	fmt.Fprintf(w, "files\n")
	for _, f := range a.Files {
		fmt.Fprintf(w, "  %-20s %15s bytes\n", f.Name, console.Count(f.Bytes))
	}
	for i, slot := range a.Slots {
		used := ""
		if a.Table != nil && i == a.Used {
			used = ", in use"
		}
		fmt.Fprintf(w, "\nslot %c%s\n", 'A'+i, used)
		switch {
		case slot.Err == nil:
			if err := slot.Super.Describe(w); err != nil {
				return err
			}
		case slot.Blank:
			fmt.Fprintf(w, "blank\n")
		default:
			fmt.Fprintf(w, "damaged: %v\n", slot.Err)
		}
	}
	fmt.Fprintln(w)
	if a.Table != nil {
		if err := a.Table.Describe(w, nil); err != nil {
			return err
		}
		fmt.Fprintf(w, "\ntrunk\n")
		dumpTrunk(w, a.Root, nil, "  ")
		fmt.Fprintf(w, "\nbranches\n")
		for i := range a.Branches {
			dumpBranch(w, &a.Branches[i])
		}
		dumpJournal(w, a)
		dumpHistory(w, a)
	}
	for _, d := range a.Damage {
		fmt.Fprintf(w, "damage: %v\n", d)
	}
	return nil
}

// dumpTrunk shows a node, its pivots with their references, newest first, and
// the nodes below it.
func dumpTrunk(w io.Writer, n *trunk.Node, end []byte, indent string) {
	if n == nil {
		fmt.Fprintf(w, "%sempty\n", indent)
		return
	}
	fmt.Fprintf(w, "%snode %d of level %d\n", indent, n.ID, n.Level)
	for i := range n.Pivots {
		p := &n.Pivots[i]
		hi := end
		if i+1 < len(n.Pivots) {
			hi = n.Pivots[i+1].Lo
		}
		fmt.Fprintf(w, "%s  %q to %s:", indent, p.Lo, upTo(hi))
		if len(p.Refs) == 0 {
			fmt.Fprintf(w, " nothing")
		}
		for _, r := range p.Refs {
			base := ""
			if r.Base {
				base = ", base"
			}
			fmt.Fprintf(w, " branch %d (%s bytes%s)", r.Branch.Meta.ID, console.Count(r.Bytes), base)
		}
		fmt.Fprintln(w)
		if p.Child != nil {
			dumpTrunk(w, p.Child, hi, indent+"    ")
		}
	}
}

func upTo(hi []byte) string {
	if hi == nil {
		return "the end"
	}
	return fmt.Sprintf("%q", hi)
}

func dumpBranch(w io.Writer, m *branch.Meta) {
	fmt.Fprintf(w, "  branch %d of epoch %d, keys %q to %q, changes %d to %d\n", m.ID, m.Epoch, m.Lo, m.Hi, m.MinSeq, m.MaxSeq)
	fmt.Fprintf(w, "    %s messages of %s keys: %s puts, %s deletes, %s merges; %s range deletes\n",
		console.Count(int64(m.Records)), console.Count(int64(m.Keys)), console.Count(int64(m.Puts)), console.Count(int64(m.Deletes)), console.Count(int64(m.Merges)), console.Count(int64(m.RangeDeletes)))
	fmt.Fprintf(w, "    index of %s bytes at byte %d; %d large values; %s blocks in %s bytes", console.Count(int64(m.Index.Len)), m.Index.Addr, len(m.Blobs), console.Count(int64(m.Blocks)), console.Count(int64(m.Bytes)))
	for i, r := range m.Runs {
		if i == runsShown {
			fmt.Fprintf(w, " and %d more runs", len(m.Runs)-i)
			break
		}
		fmt.Fprintf(w, ", at byte %d", r.Addr())
	}
	fmt.Fprintln(w)
}

// runsShown is the number of runs of a branch that dump shows.
const runsShown = 8

// dumpHistory shows what was kept of earlier changes.
func dumpHistory(w io.Writer, a *inspect.Anatomy) {
	if len(a.History) == 0 {
		return
	}
	fmt.Fprintf(w, "\nhistory\n")
	for _, h := range a.History {
		note := ""
		switch {
		case h.Foreign:
			note = ", of another store"
		case h.Stale:
			note = ", left by a crash: they do not count"
		}
		fmt.Fprintf(w, "  changes %d to %d in %s bytes%s\n", h.First, h.Last, console.Count(h.Bytes), note)
	}
}

func dumpJournal(w io.Writer, a *inspect.Anatomy) {
	fmt.Fprintf(w, "\njournal\n")
	if a.Durable > 0 {
		fmt.Fprintf(w, "  witness: everything was durable up to change %d\n", a.Durable)
	}
	for _, s := range a.Journal {
		if !s.Flaw.OK() {
			fmt.Fprintf(w, "  %s: %s bytes, no segment of this store: want %s, found %s\n", s.Name, console.Count(s.Size), s.Flaw.Want(), s.Flaw.Found())
			continue
		}
		old := ""
		if s.Info.Number < a.Slots[a.Used].Super.Segment {
			old = ", in the tree"
		}
		fmt.Fprintf(w, "  %s: segment %d of %s bytes%s, %d frames of %s bytes, changes %d to %d; then: %s\n",
			s.Name, s.Info.Number, console.Count(int64(s.Info.Size)), old, s.Frames, console.Count(s.Bytes), s.Info.First, s.Last, s.Stop)
	}
}
