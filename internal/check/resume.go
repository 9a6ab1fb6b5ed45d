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
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/check/spill"
)

// open loads the checkpoint to resume, restores the model, and removes files
// that no checkpoint has. It must be called before the first worker is made.
func (k *keeper) open(m Model) error {
	d := m.Capabilities().Durable
	if d == nil {
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
		if ours(name) && !k.st.s.periodic.has(name) {
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

// ours reports whether a name is that of a file of a store.
func ours(name string) bool {
	kind, _, _ := strings.Cut(name, "-")
	switch kind {
	case "run", "level", "lineage", "model", "graph", manifestName + ".new":
		return true
	}
	return false
}

// load reads the manifest and compares it with the search to resume.
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

// valid describes what is wrong with the figures of a manifest that decodes
// well.
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
	case len(m.Coverage) != len(s.info.Actions)+1:
		return fmt.Errorf("%d actions, want %d: %w", len(m.Coverage)-1, len(s.info.Actions), spill.ErrCorrupt)
	case runs != m.Stats.Distinct || items(m.Lineage) != m.Stats.Distinct || int64(m.Records) != m.Stats.Distinct:
		return fmt.Errorf("%d states have %d fingerprints and %d ways to them: %w", m.Stats.Distinct, runs, m.Records, spill.ErrCorrupt)
	case items(m.Next) != m.Ahead || m.Left < 0 || items(m.Current) < m.Left:
		return fmt.Errorf("%d and %d states wait, and there are %d and %d: %w", m.Left, m.Ahead, items(m.Current), items(m.Next), spill.ErrCorrupt)
	case m.Left > 0 && (m.Offset < 0 || m.Offset > m.Current.Blocks[0].Bytes):
		return fmt.Errorf("a level goes on at %d: %w", m.Offset, spill.ErrCorrupt)
	}
	return errors.Join(m.validFiles(), m.validFigures(), m.validSamples(), m.validFound(s))
}

// validFiles checks the names of files: a file that the search continues with
// must not have a name that the search will write.
func (m *manifest) validFiles() error {
	bad := func(name string) error {
		return fmt.Errorf("%q is no file of it: %w", name, spill.ErrCorrupt)
	}
	number := func(name, kind string, most int) bool {
		text, ok := strings.CutPrefix(name, kind+"-")
		n, err := strconv.Atoi(text)
		return ok && err == nil && n > 0 && n <= most && strconv.Itoa(n) == text
	}
	seen := map[string]bool{}
	for _, r := range m.Runs {
		if !number(r.Name, "run", m.RunSeq) || seen[r.Name] {
			return bad(r.Name)
		}
		seen[r.Name] = true
	}
	for _, t := range []struct{ name, want string }{{m.Lineage.Name, lineageName}, {m.Current.Name, levelName(m.Level)}, {m.Next.Name, levelName(m.Level + 1)}} {
		if t.name != t.want {
			return bad(t.name)
		}
	}
	if !number(m.Model.Name, "model", m.Seq) {
		return bad(m.Model.Name)
	}
	return nil
}

// validFigures checks the figures of a manifest against each other.
func (m *manifest) validFigures() error {
	var generated, distinct, levels int64
	sign := int64(0) // negative if a figure is
	for _, c := range m.Coverage {
		generated, distinct = generated+c.Generated, distinct+c.Distinct
		sign |= c.Generated | c.Distinct
	}
	for _, n := range m.Levels {
		levels += n
		sign |= n
	}
	depth := m.Level
	if m.Ahead > 0 {
		depth++
	}
	if sign < 0 || generated != m.Stats.Generated || distinct != m.Stats.Distinct || levels != distinct || generated < distinct ||
		m.Left+m.Ahead != m.Stats.Queue || int64(m.Number)+m.Stats.Queue != distinct || m.Level < 0 || m.Depth != depth || len(m.Levels) != depth {
		return fmt.Errorf("%d states of %d at %d depths, %d of them expanded and %d not: %w", distinct, generated, m.Depth, m.Number, m.Stats.Queue, spill.ErrCorrupt)
	}
	return nil
}

// validSamples checks the samples, the first of each block, against the blocks.
func (m *manifest) validSamples() error {
	if len(m.Samples) != len(m.Lineage.Blocks) {
		return fmt.Errorf("%d blocks have %d samples: %w", len(m.Lineage.Blocks), len(m.Samples), spill.ErrCorrupt)
	}
	number, parent := 0, uint32(0)
	for i, x := range m.Samples {
		if int(x.Block) != i || x.Offset != 0 || int(x.Number) != number || x.Parent < parent || x.Parent > x.Number {
			return fmt.Errorf("sample %d is %+v: %w", i, x, spill.ErrCorrupt)
		}
		number += m.Lineage.Blocks[i].Items
		parent = x.Parent
	}
	if m.Parent < parent || m.Parent > m.Records {
		return fmt.Errorf("the last parent is %d: %w", m.Parent, spill.ErrCorrupt)
	}
	return nil
}

// validFound describes what is wrong with the violations after which a search
// continued.
func (m *manifest) validFound(s *search) error {
	for _, v := range m.Found {
		properties := 1
		switch v.Verdict {
		case InvariantViolated:
			properties = len(s.info.Invariants)
		case StepViolated:
			properties = len(s.info.Steps)
		case Deadlock:
		default:
			return fmt.Errorf("the search went on after the verdict %d: %w", v.Verdict, spill.ErrCorrupt)
		}
		if v.Index < -1 || v.Index >= properties || v.Action < rootAction || v.Action >= len(s.info.Actions) || v.Parent >= m.Records && m.Records > 0 {
			return fmt.Errorf("a violation is %+v: %w", v, spill.ErrCorrupt)
		}
	}
	if !s.periodic.accepts(m.Checks, s.info, len(m.Found)) {
		return fmt.Errorf("what was found during the search is damaged: %w", spill.ErrCorrupt)
	}
	return nil
}

// restoreModel restores the model. It must be called before the first worker is
// made.
func (k *keeper) restoreModel(d Durable) error {
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

// resume restores the state that the search had when the checkpoint was made.
func (s *search) resume() error {
	k := s.store.keeper
	m := k.from
	k.from = nil
	if err := m.valid(s); err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	s.report.restore(m)
	s.level.restore(m)
	s.lineage.restore(m)
	k.seq, s.store.seq = m.Seq, m.RunSeq
	k.durable = m.files()
	s.periodic.resume(m.Checks)
	for _, t := range s.tapes(m) {
		tape, err := spill.OpenTape(s.store.disk, t.kept.Name, t.kept.Blocks)
		if err != nil {
			return fmt.Errorf("the checkpoint: %w", err)
		}
		*t.tape = tape
	}
	if err := s.store.openRuns(m.Runs); err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	s.progress.began(s.report.roots())
	s.progress.resumed(s.report.figures(m.Stats.Queue))
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

// openRuns opens the runs, and reads their fingerprints if there is room for
// all of them.
func (st *store) openRuns(runs []keptRun) error {
	total := int64(0)
	for _, r := range runs {
		total += r.Len
	}
	st.partial = st.budget > 0 && total*slotBytes > st.budget/shareOfSet/2
	for _, kept := range runs {
		r, err := spill.OpenRun(st.disk, kept.Name, kept.Len, kept.Sum)
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
