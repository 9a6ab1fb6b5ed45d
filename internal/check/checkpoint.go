// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"slices"

	"github.com/ashlar-dev/ashlar/env"
	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// A checkpoint is the state of the search between two segments: the files of
// the store, and a manifest that states which parts of them count. Files named
// in a manifest are only appended to, beyond the counted part, and are removed
// only after the next manifest is durable. The manifest is written beside the
// old one and renamed, so a search that is killed at any moment leaves a
// complete one.

// Checkpoint states how to save a search. The directory is that of
// Options.Disk.
type Checkpoint struct {
	// Due reports, between two segments, whether to make a checkpoint now; nil
	// means never. It is called by the goroutine of the search.
	Due func() bool
	// Leave, if not nil, is called before Due, as long as states wait. If it
	// returns true, the search makes a checkpoint and ends with ErrLeft, or
	// with a *LeaveError, so that another search can continue it.
	Leave func() bool
	// Last requests a checkpoint, at the end of the segment, if the search ends
	// because Options.StatesMax is reached, or because ctx has ended and not
	// with a Limit: otherwise the work since the previous one is lost. When
	// Late is closed, the segment takes too long, and the search ends at once
	// without a checkpoint.
	Last bool
	Late <-chan struct{}
	// Stay keeps the checkpoint after the end of the search; the caller removes
	// it with RemoveCheckpoint.
	Stay bool
	// Resume continues from the checkpoint in the directory.
	Resume bool
	// Identity has the parts that must be equal for a checkpoint to be resumed.
	// The checker adds its own dependencies.
	Identity []IdentityPart
}

// IdentityPart is one dependency of a search, such as a file by its name and a
// digest.
type IdentityPart struct {
	Name string `json:"name"`
	Sum  string `json:"sum"`
}

// MismatchError reports that a checkpoint is of another search.
type MismatchError struct{ What string }

func (e *MismatchError) Error() string { return "the checkpoint belongs to another search: " + e.What }

// NotDurableError is the reason why a model cannot be resumed.
type NotDurableError struct{ Reason error }

func (e *NotDurableError) Error() string { return "checkpoints cannot be written: " + e.Reason.Error() }
func (e *NotDurableError) Unwrap() error { return e.Reason }

// ErrLeft is the error of Run after Checkpoint.Leave returned true: the search
// is in the checkpoint, and no longer in memory.
var ErrLeft = errors.New("the search was left to another one")

// LeaveError is an error of the disk in writing the checkpoint for
// Checkpoint.Leave: there may be no checkpoint.
type LeaveError struct{ Err error }

func (e *LeaveError) Error() string { return e.Err.Error() }
func (e *LeaveError) Unwrap() error { return e.Err }

// ErrCheckpoint is the error of Run if there is a checkpoint and Resume is
// false.
var ErrCheckpoint = errors.New("there is a checkpoint already")

// ErrNoCheckpoint is the error of Run if there is nothing to resume.
var ErrNoCheckpoint = errors.New("there is no checkpoint")

const (
	manifestName   = "checkpoint"
	manifestSchema = "ashlar-checkpoint/2"
	// manifestBytesMax bounds the size of a manifest that is read.
	manifestBytesMax = 1 << 30
	modelBytesMax    = 1 << 34
)

// keeper writes the checkpoints of a search.
type keeper struct {
	st      *store
	o       Checkpoint
	durable []string // the files that the last manifest names
	seq     int
	from    *manifest // the checkpoint to resume
}

func newKeeper(st *store, o Checkpoint) *keeper { return &keeper{st: st, o: o} }

// poll writes a checkpoint if one is due. If Leave asks to end the search, poll writes
// it too and returns the error that ends the search.
func (k *keeper) poll() error {
	leave := k.o.Leave != nil && k.st.s.level.waiting() > 0 && k.o.Leave()
	if !leave && (k.o.Due == nil || !k.o.Due()) {
		return nil
	}
	err := k.keep()
	switch {
	case !leave:
		return err
	case err != nil:
		return &LeaveError{err}
	}
	return ErrLeft
}

const interrupted = "the search was interrupted"

// holds reports whether the last manifest names a file.
func (k *keeper) holds(name string) bool { return slices.Contains(k.durable, name) }

// manifest is everything in a checkpoint except the files that it names.
type manifest struct {
	Schema   string         `json:"schema"`
	Identity []IdentityPart `json:"identity"`
	Seq      int            `json:"seq"`
	RunSeq   int            `json:"runSeq"`

	Stats    Stats            `json:"stats"`
	Coverage []Coverage       `json:"coverage"`
	Levels   []int64          `json:"levels"`
	Level    int              `json:"level"`
	Depth    int              `json:"depth"`
	Number   uint32           `json:"number"`
	Left     int64            `json:"left"`
	Ahead    int64            `json:"ahead"`
	Found    []foundViolation `json:"violations"`
	Checks   *keptPeriodic    `json:"looks,omitempty"` // of properties of behaviours, during the search

	Runs    []keptRun `json:"runs"`
	Model   keptFile  `json:"model"`
	Lineage keptTape  `json:"lineage"`
	Records uint32    `json:"records"`
	Parent  uint32    `json:"parent"`
	Samples []sample  `json:"samples"` // the first of each block
	Current keptTape  `json:"current"`
	Offset  int       `json:"offset"` // in the first block of Current
	Next    keptTape  `json:"next"`
}

type keptRun struct {
	Name string `json:"name"`
	Len  int64  `json:"len"`
	Sum  uint32 `json:"sum"`
}

type keptFile struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	Sum   uint32 `json:"sum"`
}

type keptTape struct {
	Name   string        `json:"name"`
	Blocks []spill.Block `json:"blocks"`
}

// taped is a tape of the search and its entry in the manifest: the blocks that are
// still needed, from the first of them on.
type taped struct {
	tape **spill.Tape
	from int
	kept *keptTape
}

// foundViolation is a violation after which the search continued.
type foundViolation struct {
	Verdict   Verdict `json:"verdict"`
	Index     int     `json:"index"`
	FromState bool    `json:"fromState"`
	Parent    uint32  `json:"parent"`
	Action    int     `json:"action"`
	Last      []byte  `json:"last"`
}

// identity is what a checkpoint depends on, including the checker's own part.
func (k *keeper) identity() []IdentityPart {
	o := k.st.s.o
	return append(slices.Clone(k.o.Identity),
		IdentityPart{"the format of checkpoints", manifestSchema},
		IdentityPart{"whether the search continues after violations", fmt.Sprint(o.Continue)},
		IdentityPart{"whether deadlock is reported", fmt.Sprint(!o.IgnoreDeadlock)})
}

// keep writes a checkpoint.
func (k *keeper) keep() error {
	if err := k.write(); err != nil {
		return fmt.Errorf("write a checkpoint: %w", err)
	}
	return nil
}

func (k *keeper) write() error {
	s, st := k.st.s, k.st
	s.quiet()
	if st.fresh() > 0 {
		if err := st.writeRun(false); err != nil {
			return err
		}
	}
	k.seq++
	m := manifest{Schema: manifestSchema, Identity: k.identity(), Seq: k.seq, RunSeq: st.seq, Checks: s.periodic.kept()}
	s.report.save(&m)
	s.level.save(&m)
	s.lineage.save(&m)
	var names []string
	for _, r := range st.runs {
		if err := r.Sync(); err != nil {
			return err
		}
		m.Runs = append(m.Runs, keptRun{r.Name(), r.Len(), r.Sum()})
		names = append(names, r.Name())
	}
	for _, t := range s.tapes(&m) {
		tape := *t.tape
		if err := errors.Join(tape.Store(false, 0), tape.Sync()); err != nil {
			return err
		}
		name, stored := tape.Name()
		*t.kept = keptTape{name, tape.Table(t.from)}
		if stored {
			names = append(names, name)
		}
	}
	if err := k.writeModel(&m); err != nil {
		return err
	}
	return k.commit(&m, append(names, m.Model.Name))
}

// writeModel writes the model's part of a checkpoint.
func (k *keeper) writeModel(m *manifest) error {
	m.Model = keptFile{Name: fmt.Sprintf("model-%d", k.seq)}
	var data bytes.Buffer
	if d := k.st.s.m.Capabilities().Durable; d != nil {
		if err := d.Save(&data, k.st.s.evaluators()); err != nil {
			return err
		}
	}
	m.Model.Bytes, m.Model.Sum = data.Len(), crc32.ChecksumIEEE(data.Bytes())
	return writeFile(k.st.disk, m.Model.Name, data.Bytes())
}

// commit makes the manifest durable and then removes the files that only the
// previous manifest named.
func (k *keeper) commit(m *manifest, names []string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	sum := make([]byte, 0, 9)
	sum = hex.AppendEncode(sum, crcBytes(text))
	const fresh = manifestName + ".new"
	if err := writeFile(k.st.disk, fresh, append(append(sum, '\n'), text...)); err != nil {
		return err
	}
	if err := k.st.disk.SyncDir("."); err != nil {
		return err
	}
	// If it is unknown which manifest is on the disk, the files of both must
	// stay.
	before := k.durable
	k.durable = append(slices.Clone(before), names...)
	if err := k.st.disk.Rename(fresh, manifestName); err != nil {
		return err
	}
	if err := k.st.disk.SyncDir("."); err != nil {
		return err
	}
	k.durable = names
	var errs []error
	for _, name := range before {
		if !slices.Contains(names, name) {
			errs = append(errs, k.st.remove(name))
		}
	}
	return errors.Join(errs...)
}

func crcBytes(b []byte) []byte {
	sum := crc32.ChecksumIEEE(b)
	return []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}

// writeFile writes a file and syncs it. The caller must sync the directory, or
// the file may lose its name.
func writeFile(d env.Disk, name string, data []byte) (err error) {
	f, err := d.Open(name, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if len(data) > 0 {
		if _, err := f.WriteAt(data, 0); err != nil {
			return err
		}
	}
	return f.Sync()
}

// readFile reads a file of at most max bytes.
func readFile(d env.Disk, name string, most int64) (data []byte, err error) {
	f, err := d.Open(name, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, fmt.Errorf("%s: %d bytes, more than %d: %w", name, size, most, spill.ErrCorrupt)
	}
	data = make([]byte, size)
	if size > 0 {
		if _, err := f.ReadAt(data, 0); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return data, nil
}

// end removes the checkpoint after the search has finished.
func (k *keeper) end() error {
	if len(k.durable) == 0 {
		return nil
	}
	if err := k.st.disk.Remove(manifestName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Remove the manifest durably before its files: a manifest that came back
	// without them would be corrupt.
	if err := k.st.disk.SyncDir("."); err != nil {
		return err
	}
	names := k.durable
	k.durable = nil
	var errs []error
	for _, name := range names {
		errs = append(errs, k.st.remove(name))
	}
	return errors.Join(errs...)
}

// RemoveCheckpoint removes the checkpoint of a finished search that
// Checkpoint.Stay has left. It is no error if there is none.
func RemoveCheckpoint(d env.Disk) error {
	data, err := readFile(d, manifestName, manifestBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the checkpoint: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return err
	}
	k := &keeper{st: &store{disk: d}, durable: m.files()}
	return k.end()
}
