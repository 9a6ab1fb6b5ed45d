// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

// Schema is the first field of a certificate, and its version.
const Schema = "ashlar-dedalus-certificate-1"

// FileBytesMax is the maximum length of a certificate, StepsMax its maximum number of steps.
const (
	FileBytesMax = 64 << 20
	StepsMax     = 1024
)

// Step is a step of a certificate: its claim, and the text of the program after it. The last
// step has no text: the caller that checks the certificate has that program.
type Step struct {
	Claim   Claim
	Program string
}

// file is the JSON form of a certificate; docs/format/certificate.md describes the fields.
type file struct {
	Schema string     `json:"schema"`
	Steps  []fileStep `json:"steps"`
}

type fileStep struct {
	Rewrite      string                      `json:"rewrite"`
	Component    string                      `json:"component"`
	Rules        []int                       `json:"rules,omitempty"`
	As           string                      `json:"as,omitempty"`
	Pieces       int                         `json:"pieces,omitempty"`
	Keys         map[string]fileKey          `json:"keys,omitempty"`
	Dependencies map[string][]fileDependency `json:"dependencies,omitempty"`
	Partial      *filePartial                `json:"partial,omitempty"`
	Assuming     []fileAssumption            `json:"assuming,omitempty"`
	Program      string                      `json:"program,omitempty"`
}

type fileKey struct {
	Column   int    `json:"column"`
	Function string `json:"function,omitempty"`
}

type fileDependency struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Function string `json:"function,omitempty"`
}

type filePartial struct {
	Replicated []string `json:"replicated"`
	Sealed     []string `json:"sealed"`
	Depth      int      `json:"depth"`
	Settling   bool     `json:"settling"`
}

type fileAssumption struct {
	Kind     string `json:"kind"`
	Relation string `json:"relation"`
}

// Encode writes a certificate. It refuses one that Decode would refuse for its size.
func Encode(steps []Step) ([]byte, error) {
	if n := len(steps); n == 0 || n > StepsMax {
		return nil, fmt.Errorf("cannot write a certificate of %d steps, want 1 to %d", n, StepsMax)
	}
	out := file{Schema: Schema, Steps: []fileStep{}}
	for i, s := range steps {
		c := s.Claim
		f := fileStep{Rewrite: c.Kind, Component: c.Component, As: c.Name, Pieces: c.Partitions, Program: s.Program}
		if i == len(steps)-1 {
			f.Program = ""
		}
		for _, r := range c.Moved {
			f.Rules = append(f.Rules, r+1)
		}
		for r, k := range c.Keys {
			if f.Keys == nil {
				f.Keys = map[string]fileKey{}
			}
			f.Keys[r] = fileKey{k.Column, k.Func}
		}
		for r, list := range c.Dependencies {
			if f.Dependencies == nil {
				f.Dependencies = map[string][]fileDependency{}
			}
			for _, d := range list {
				f.Dependencies[r] = append(f.Dependencies[r], fileDependency{d.From, d.To, d.Func})
			}
		}
		if p := c.Partial; p != nil {
			f.Partial = &filePartial{append([]string{}, p.Replicated...), append([]string{}, p.Sealed...), p.Depth, p.Settling}
		}
		for _, a := range c.Assuming {
			f.Assuming = append(f.Assuming, fileAssumption{a.Kind.String(), a.Relation})
		}
		out.Steps = append(out.Steps, f)
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if text = append(text, '\n'); err == nil && len(text) > FileBytesMax {
		err = fmt.Errorf("cannot write a certificate longer than %d bytes", FileBytesMax)
	}
	return text, err
}

// Decode reads a certificate. It does not check whether the claims are true.
func Decode(text []byte) ([]Step, error) {
	if len(text) > FileBytesMax {
		return nil, fmt.Errorf("the certificate is longer than %d bytes", FileBytesMax)
	}
	in, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	var out []Step
	for i, f := range in.Steps {
		s, err := f.step()
		if err == nil && (f.Program == "") != (i == len(in.Steps)-1) {
			err = errors.New("the program after the step is missing; only the last step may omit it")
		}
		if err != nil {
			return nil, fmt.Errorf("read certificate: step %d: %w", i+1, err)
		}
		out = append(out, s)
	}
	return out, nil
}

func decode(text []byte) (*file, error) {
	// Another version may have other fields, so check the version first.
	var version struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, err
	}
	if version.Schema != Schema {
		return nil, fmt.Errorf("schema is %q, want %q", version.Schema, Schema)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var in file
	if err := d.Decode(&in); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the JSON document")
	}
	if n := len(in.Steps); n == 0 || n > StepsMax {
		return nil, fmt.Errorf("it has %d steps, want 1 to %d", n, StepsMax)
	}
	return &in, nil
}

func (f *fileStep) step() (Step, error) {
	c := Claim{Kind: f.Rewrite, Component: f.Component, Name: f.As, Partitions: f.Pieces}
	for _, r := range f.Rules {
		if r < 1 {
			return Step{}, fmt.Errorf("rule number is %d; rules are numbered from 1", r)
		}
		c.Moved = append(c.Moved, r-1)
	}
	if f.Keys != nil {
		c.Keys = map[string]Key{}
	}
	for r, k := range f.Keys {
		c.Keys[r] = Key{k.Column, k.Function}
	}
	if f.Dependencies != nil {
		c.Dependencies = map[string][]Dependency{}
	}
	for r, list := range f.Dependencies {
		for _, d := range list {
			c.Dependencies[r] = append(c.Dependencies[r], Dependency{d.From, d.To, d.Function})
		}
	}
	if p := f.Partial; p != nil {
		c.Partial = &Partial{p.Replicated, p.Sealed, p.Depth, p.Settling}
	}
	for _, a := range f.Assuming {
		kinds := []logic.AssumptionKind{logic.Collected, logic.Growing, logic.Timely}
		i := slices.IndexFunc(kinds, func(k logic.AssumptionKind) bool { return k.String() == a.Kind })
		if i < 0 {
			return Step{}, fmt.Errorf("unknown assumption %q", a.Kind)
		}
		c.Assuming = append(c.Assuming, logic.Assumption{Kind: kinds[i], Relation: a.Relation})
	}
	return Step{c, f.Program}, nil
}
