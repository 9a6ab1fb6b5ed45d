// SPDX-License-Identifier: Apache-2.0

package ashlar

import (
	"errors"
	"io"

	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/specification"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
)

// Options say how a specification is read. The zero value reads the module from the
// file system, and the configuration that is beside it.
type Options struct {
	// Config is the file of the configuration. Where it is empty, that is the file
	// beside the module with its name and the ending .cfg, else the section of the
	// module's file that names itself a configuration, else a default one: Init and
	// Next, or Spec.
	Config string
	// Libraries are directories in which modules are looked for that are not beside
	// the module, in order.
	Libraries []string
	// Files is where modules and configurations are; nil is the file system. With
	// other Files a specification cannot read or write files itself.
	Files Files
	// Print takes the lines that the specification prints (TLC!Print, and its like),
	// from several goroutines, but one at a time; nil drops them.
	Print func(line string)
	// Environment is what IOUtils!IOEnv sees; nil is nothing.
	Environment map[string]string
}

// Files is where modules are read from.
type Files interface {
	// ReadFile returns the content of a file, which the caller does not change. Where
	// there is no such file the error satisfies errors.Is(err, fs.ErrNotExist).
	ReadFile(name string) ([]byte, error)
}

func (o Options) files() load.Files {
	if o.Files == nil {
		return specification.Files{}
	}
	return o.Files
}

func (o Options) evaluation() model.Options {
	e := model.Options{Output: o.Print, Environment: func() map[string]string { return o.Environment }}
	if o.Files == nil {
		e.Files = specification.Files{}
	}
	return e
}

// Diagnostic is one thing that is wrong with a specification or its configuration.
type Diagnostic struct {
	Severity string `json:"severity"` // error, warning, or note: there are more
	Code     string `json:"code"`     // names the kind: "UnknownName"
	File     string `json:"file"`     // "" where there is no place
	Line     int    `json:"line"`     // from 1
	Column   int    `json:"column"`   // from 1
	Message  string `json:"message"`
	Repair   string `json:"repair,omitempty"` // what to write instead, where that is known
}

// Diagnostics are what is wrong with the input, in the order of its places.
type Diagnostics struct {
	List []Diagnostic // at most source.DiagnosticsMax, and how many more there are

	list *source.List
}

// Print writes the diagnostics with the lines of the files that they are about.
func (d Diagnostics) Print(w io.Writer) {
	if d.list != nil {
		d.list.Print(w)
	}
}

func diagnostics(list *source.List) Diagnostics {
	out := Diagnostics{list: list}
	for _, r := range list.Reports() {
		out.List = append(out.List, Diagnostic(r))
	}
	return out
}

// InputError says that there is at least one error in the input. Its text has the
// lines at fault.
type InputError struct {
	Diagnostics
	// Configuration says that the configuration is to blame, and not the module.
	Configuration bool
}

func (e *InputError) Error() string { return e.list.Error() }

// inputError makes an *InputError of what the packages behind say about the input.
func inputError(err error) error {
	var wrong *specification.Error
	if errors.As(err, &wrong) {
		return &InputError{Diagnostics: diagnostics(wrong.Diagnostics), Configuration: wrong.Configuration}
	}
	return err
}

// Specification is a module with its configuration, ready to be checked.
type Specification struct {
	model    *model.Model
	warnings Diagnostics
}

// Load reads the module in the file at path, all that it uses, and the
// configuration. A path without an ending gets .tla. An algorithm whose translation
// is not in the file is translated; the file stays as it is.
func Load(path string, o Options) (*Specification, error) {
	s, err := specification.Load(o.files(), path, specification.Options{Config: o.Config, Libraries: o.Libraries})
	if err != nil {
		return nil, inputError(err)
	}
	m, err := s.Model(o.evaluation())
	if err != nil {
		return nil, inputError(err)
	}
	return &Specification{model: m, warnings: diagnostics(s.Diagnostics)}, nil
}

// Name is the module's name.
func (s *Specification) Name() string { return s.model.Info().Name }

// Warnings are what the specification and its configuration were warned of: what is
// legal, and seldom meant.
func (s *Specification) Warnings() Diagnostics { return s.warnings }
