package check

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"strings"

	"github.com/ashlar-dev/ashlar/check/spill"
)

// open loads the checkpoint that is to be resumed, gives the model back what it
// has kept, and removes files that no checkpoint has. It comes before the first
// worker.
func (k *keeper) open(m Model) error {
	d, ok := m.(DurableModel)
	if !ok {
		return errors.New("check: the model cannot be kept")
	}
	if err := d.Durable(); err != nil {
		return &NotDurableError{err}
	}
	from, err := k.load()
	switch {
	case err == nil && !k.o.Resume:
		return ErrCheckpoint
	case err != nil && (k.o.Resume || !errors.Is(err, ErrNoCheckpoint)):
		return err
	case err == nil:
		k.from, k.durable = from, from.files()
	}
	names, err := k.st.disk.List(".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if ours(name) {
			if err := k.st.remove(name); err != nil {
				return err
			}
		}
	}
	if k.from == nil {
		return nil
	}
	return k.restoreModel(d)
}

// ours says whether a name is that of a file of a store.
func ours(name string) bool {
	kind, _, _ := strings.Cut(name, "-")
	switch kind {
	case "run", "level", "lineage", "model", manifestName + ".new":
		return true
	}
	return false
}

// load reads the manifest and compares it with the search that is to be
// resumed.
func (k *keeper) load() (*manifest, error) {
	data, err := readFile(k.st.disk, manifestName, manifestBytesMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoCheckpoint
	}
	if err != nil {
		return nil, fmt.Errorf("read the checkpoint: %w", err)
	}
	m, err := parseManifest(data)
	if err != nil {
		return nil, err
	}
	want := k.identity()
	for i := range max(len(want), len(m.Identity)) {
		switch {
		case i >= len(m.Identity):
			return nil, &MismatchError{want[i].Name + " is not part of it"}
		case i >= len(want) || m.Identity[i].Name != want[i].Name:
			return nil, &MismatchError{m.Identity[i].Name + " is part of it, and not of this search"}
		case m.Identity[i] != want[i]:
			return nil, &MismatchError{fmt.Sprintf("%s was %s, and is %s", want[i].Name, m.Identity[i].Sum, want[i].Sum)}
		}
	}
	return m, nil
}

// parseManifest reads what commit wrote.
func parseManifest(data []byte) (*manifest, error) {
	sum, text, ok := bytes.Cut(data, []byte{'\n'})
	if !ok || hex.EncodeToString(crcBytes(text)) != string(sum) {
		return nil, fmt.Errorf("the checkpoint: its checksum is wrong: %w", spill.ErrCorrupt)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("the checkpoint: %w: %w", spill.ErrCorrupt, err)
	}
	return &m, nil
}

// valid says what is wrong with the figures of a manifest that is otherwise
// whole.
func (m *manifest) valid(s *search) error {
	items := func(t keptTape) (n int64) {
		for _, b := range t.Blocks {
			n += int64(b.Items)
		}
		return n
	}
	var runs int64
	for _, r := range m.Runs {
		runs += r.Len
	}
	switch {
	case len(m.Coverage) != len(s.coverage):
		return fmt.Errorf("%d actions, want %d: %w", len(m.Coverage)-1, len(s.coverage)-1, spill.ErrCorrupt)
	case runs != m.Stats.Distinct || items(m.Lineage) != m.Stats.Distinct || int64(m.Records) != m.Stats.Distinct:
		return fmt.Errorf("%d states have %d fingerprints and %d ways to them: %w", m.Stats.Distinct, runs, m.Records, spill.ErrCorrupt)
	case items(m.Next) != m.Ahead || m.Left < 0 || items(m.Current) < m.Left:
		return fmt.Errorf("%d and %d states wait, and there are %d and %d: %w", m.Left, m.Ahead, items(m.Current), items(m.Next), spill.ErrCorrupt)
	case m.Left > 0 && (m.Offset < 0 || m.Offset > m.Current.Blocks[0].Bytes):
		return fmt.Errorf("a level goes on at %d: %w", m.Offset, spill.ErrCorrupt)
	case len(m.Samples) != len(m.Lineage.Blocks):
		return fmt.Errorf("%d blocks have %d samples: %w", len(m.Lineage.Blocks), len(m.Samples), spill.ErrCorrupt)
	}
	return nil
}

// restoreModel gives the model back what it has kept. It comes before the
// first worker.
func (k *keeper) restoreModel(d DurableModel) error {
	m := k.from
	data, err := readFile(k.st.disk, m.Model.Name, modelBytesMax)
	if err != nil {
		return err
	}
	if len(data) != m.Model.Bytes || crc32.ChecksumIEEE(data) != m.Model.Sum {
		return fmt.Errorf("%s: its checksum is wrong: %w", m.Model.Name, spill.ErrCorrupt)
	}
	if err := d.Restore(bytes.NewReader(data)); err != nil {
		return fmt.Errorf("%s: %w", m.Model.Name, err)
	}
	return nil
}

// resume makes the search what it was when the checkpoint was kept.
func (s *search) resume() error {
	k := s.store.keeper
	m := k.from
	k.from = nil
	if err := m.valid(s); err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	s.stats, s.coverage, s.levels, s.level, s.depth = m.Stats, m.Coverage, m.Levels, m.Level, m.Depth
	s.number, s.left, s.ahead = m.Number, m.Left, m.Ahead
	k.seq, s.store.seq = m.Seq, m.RunSeq
	k.durable = m.files()
	for _, v := range m.Found {
		found := &violation{verdict: v.Verdict, asked: v.Verdict, index: v.Index, fromState: v.FromState, parent: v.Parent, action: v.Action, last: v.Last}
		s.violations = append(s.violations, found)
		s.known[s.property(found)] = true
	}
	for _, t := range []struct {
		to   **spill.Tape
		kept keptTape
	}{{&s.lineage.tape, m.Lineage}, {&s.current, m.Current}, {&s.next, m.Next}} {
		tape, err := spill.OpenTape(s.store.disk, t.kept.Name, t.kept.Blocks)
		if err != nil {
			return fmt.Errorf("the checkpoint: %w", err)
		}
		*t.to = tape
	}
	s.at = position{0, m.Offset}
	s.lineage.n, s.lineage.parent, s.lineage.samples = m.Records, m.Parent, m.Samples
	if err := s.store.openRuns(m.Runs); err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	if len(s.levels) > 0 {
		s.roots.Store(s.levels[0])
	}
	s.before.Store(s.stats.Generated)
	s.seen.Store(s.stats.Distinct)
	s.waiting.Store(s.stats.Queue)
	s.deep.Store(int64(s.depth))
	return nil
}

// files are the names of the files of a checkpoint.
func (m *manifest) files() []string {
	names := []string{m.Model.Name}
	for _, r := range m.Runs {
		names = append(names, r.Name)
	}
	for _, t := range []keptTape{m.Lineage, m.Current, m.Next} {
		if len(t.Blocks) > 0 {
			names = append(names, t.Name)
		}
	}
	return names
}

// openRuns opens the runs, and reads their fingerprints where there is room for
// all of them.
func (st *store) openRuns(runs []keptRun) error {
	total := int64(0)
	for _, r := range runs {
		total += r.Len
	}
	st.partial = st.budget > 0 && total*slotBytes > st.budget/shareOfSet/2
	for _, kept := range runs {
		r, err := spill.OpenRun(st.disk, kept.Name, kept.Len)
		if err != nil {
			return err
		}
		st.runs = append(st.runs, r)
		if st.partial {
			continue
		}
		if err := r.Each(func(fp uint64) error { st.s.set.Restore(fp); return nil }); err != nil {
			return err
		}
	}
	return nil
}
