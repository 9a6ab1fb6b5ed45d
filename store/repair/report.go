// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ashlar-dev/ashlar/store"
)

// Report states what a repair has found, kept and lost.
type Report struct {
	// Repaired reports that a new data file is in place. A sound store is not
	// repaired.
	Repaired bool
	// Saved are the names of the files, in the store's directory, that hold the
	// previous contents.
	Saved []string
	// From states the source of the new store.
	From string
	// Damage is the damage found, at most store.ProblemsMax items; MoreDamage is the
	// number of further ones.
	Damage     []error
	MoreDamage int64
	// Lost are the keys with losses. All others have the value that they had.
	Lost []Loss
	// The kept items. JournalMessages are those that were in no tree.
	Branches, Blocks, Messages, JournalMessages, Values int64
	// The lost items: lost indexes cost only time; lost blocks of branches and
	// large values are in Lost.
	LostIndexes, LostBlocks, LostValues int64
	// LastChange is the number of the last change in the new store.
	LastChange uint64
}

// Loss is a range of keys with lost changes.
type Loss struct {
	// Lo and Hi bound the keys, both included; Hi nil is the end of all keys.
	Lo, Hi []byte
	// Older reports that older values, and deleted keys, may reappear there.
	// Otherwise keys are missing, or have only the changes that were made to a
	// missing value.
	Older  bool
	Reason string
}

// Covers reports whether the key is in the range.
func (l *Loss) Covers(key []byte) bool {
	return bytes.Compare(l.Lo, key) <= 0 && (l.Hi == nil || bytes.Compare(key, l.Hi) <= 0)
}

func (l *Loss) String() string {
	hi := "the end"
	if l.Hi != nil {
		hi = strconv.Quote(string(l.Hi))
	}
	what := "missing"
	if l.Older {
		what = "missing or older"
	}
	return fmt.Sprintf("keys %q to %s: %s: %s", l.Lo, hi, what, l.Reason)
}

// lossesMax is how many losses a report lists; further ones are joined to the
// last one.
const lossesMax = 10_000

// lose adds a loss. A loss that continues where another one with the same
// reason ends is joined to it.
func (r *Report) lose(l Loss) {
	for i := len(r.Lost) - 1; i >= max(0, len(r.Lost)-64); i-- {
		k := &r.Lost[i]
		if k.Reason == l.Reason && k.Older == l.Older && k.Hi != nil && bytes.Equal(k.Hi, l.Lo) {
			k.Hi = l.Hi
			return
		}
	}
	if len(r.Lost) < lossesMax {
		r.Lost = append(r.Lost, l)
		return
	}
	k := &r.Lost[lossesMax-1]
	if bytes.Compare(l.Lo, k.Lo) < 0 {
		k.Lo = l.Lo
	}
	if k.Hi != nil && (l.Hi == nil || bytes.Compare(l.Hi, k.Hi) > 0) {
		k.Hi = l.Hi
	}
	k.Older = k.Older || l.Older
	k.Reason = "many reasons: there are too many losses to list them"
}

func (r *Report) damage(err error) {
	for _, have := range r.Damage {
		if have.Error() == err.Error() {
			return
		}
	}
	if len(r.Damage) < store.ProblemsMax {
		r.Damage = append(r.Damage, err)
		return
	}
	r.MoreDamage++
}

// Covers reports whether any change of the key may be lost.
func (r *Report) Covers(key []byte) bool {
	for i := range r.Lost {
		if r.Lost[i].Covers(key) {
			return true
		}
	}
	return false
}

// String describes the report for people.
func (r *Report) String() string {
	var b strings.Builder
	if len(r.Damage) == 0 {
		return "the store is undamaged: nothing was changed\n"
	}
	fmt.Fprintf(&b, "damage: %d\n", int64(len(r.Damage))+r.MoreDamage)
	for _, d := range r.Damage {
		fmt.Fprintf(&b, "  %v\n", d)
	}
	if r.MoreDamage > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.MoreDamage)
	}
	if r.From != "" {
		fmt.Fprintf(&b, "read: %s\n", r.From)
	}
	fmt.Fprintf(&b, "kept: %d messages, %d of them from the journal, in %d blocks of %d branches; %d large values\n",
		r.Messages, r.JournalMessages, r.Blocks, r.Branches, r.Values)
	fmt.Fprintf(&b, "lost: %d blocks, %d large values; %d indexes were rebuilt\n", r.LostBlocks, r.LostValues, r.LostIndexes)
	for i := range r.Lost {
		fmt.Fprintf(&b, "  %v\n", &r.Lost[i])
	}
	switch {
	case len(r.Lost) == 0:
		b.WriteString("all keys kept their values\n")
	case slices.ContainsFunc(r.Lost, func(l Loss) bool { return len(l.Lo) == 0 && l.Hi == nil }):
		b.WriteString("any key may have lost its value\n")
	default:
		b.WriteString("all other keys kept their values\n")
	}
	if r.Repaired {
		fmt.Fprintf(&b, "repaired; the previous files are kept as %s\n", strings.Join(r.Saved, ", "))
	} else {
		b.WriteString("not repaired\n")
	}
	return b.String()
}

// MarshalJSON writes the report with keys as text in which all bytes but
// printable ASCII are escaped as in a Go string.
func (r Report) MarshalJSON() ([]byte, error) {
	type loss struct {
		Lo     string  `json:"lo"`
		Hi     *string `json:"hi"` // null: the end of all keys
		Older  bool    `json:"older"`
		Reason string  `json:"reason"`
	}
	out := struct {
		Repaired        bool     `json:"repaired"`
		Saved           []string `json:"saved"`
		From            string   `json:"from"`
		Damage          []string `json:"damage"`
		MoreDamage      int64    `json:"moreDamage"`
		Lost            []loss   `json:"lost"`
		Branches        int64    `json:"branches"`
		Blocks          int64    `json:"blocks"`
		Messages        int64    `json:"messages"`
		JournalMessages int64    `json:"journalMessages"`
		Values          int64    `json:"values"`
		LostIndexes     int64    `json:"lostIndexes"`
		LostBlocks      int64    `json:"lostBlocks"`
		LostValues      int64    `json:"lostValues"`
		LastChange      uint64   `json:"lastChange"`
	}{
		r.Repaired, append([]string{}, r.Saved...), r.From, []string{}, r.MoreDamage, []loss{},
		r.Branches, r.Blocks, r.Messages, r.JournalMessages, r.Values, r.LostIndexes, r.LostBlocks, r.LostValues, r.LastChange,
	}
	for _, d := range r.Damage {
		out.Damage = append(out.Damage, d.Error())
	}
	for _, l := range r.Lost {
		j := loss{Lo: EscapeKey(l.Lo), Older: l.Older, Reason: l.Reason}
		if l.Hi != nil {
			hi := EscapeKey(l.Hi)
			j.Hi = &hi
		}
		out.Lost = append(out.Lost, j)
	}
	return json.Marshal(out)
}

// EscapeKey writes a key as text: bytes that are not printable ASCII, quotes
// and backslashes as in a Go string.
func EscapeKey(key []byte) string {
	quoted := strconv.QuoteToASCII(string(key))
	return quoted[1 : len(quoted)-1]
}
