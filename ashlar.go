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

// Options say how to read a specification. The zero value reads the module from the
// file system and takes the configuration from the file beside it.
type Options struct {
	// Config is the path of the configuration file. If it is empty, the
	// configuration is the file beside the module with the same name and the
	// extension .cfg; else the section of the module's file that is marked as its
	// configuration; else a default one, Init and Next or Spec.
	Config string
	// Libraries are the directories to search, in order, for modules that are not
	// beside the root module.
	Libraries []string
	// Files supplies modules and configurations; nil means the file system. If
	// Files is set, a specification cannot itself read or write files.
	Files Files
	// Print receives the lines that the specification prints (with TLC!Print and
	// similar operators). Several goroutines call it, one at a time. If Print is
	// nil, the lines are dropped.
	Print func(line string)
	// Environment is the environment that IOUtils!IOEnv shows; nil means an
	// empty one.
	Environment map[string]string
}

// Files is where modules are read from.
type Files interface {
	// ReadFile returns the content of a file. The caller must not change it. If the
	// file does not exist, the error satisfies errors.Is(err, fs.ErrNotExist).
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

// Diagnostic is one error or warning about a specification or its configuration.
type Diagnostic struct {
	Severity string `json:"severity"` // error, warning, or note: there are more
	Code     string `json:"code"`     // names the kind: "UnknownName"
	File     string `json:"file"`     // "" where there is no place
	Line     int    `json:"line"`     // from 1
	Column   int    `json:"column"`   // from 1
	Message  string `json:"message"`
	Repair   string `json:"repair,omitempty"` // what to write instead, where that is known
}

// Diagnostics are errors and warnings about the input, ordered by position.
type Diagnostics struct {
	List []Diagnostic // at most source.DiagnosticsMax, and how many more there are

	list *source.List
}

// Print writes the diagnostics together with the source lines that they refer
// to.
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

// InputError reports at least one error in the input. Its text shows the source
// lines at fault.
type InputError struct {
	Diagnostics
	// Configuration reports that the error is in the configuration, not in the
	// module.
	Configuration bool
}

func (e *InputError) Error() string { return e.list.Error() }

// inputError converts the diagnostics of the internal packages to an *InputError.
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

// Load reads the module in the file at path, every module that it uses, and the
// configuration. If path has no extension, Load appends .tla. If the file holds an
// algorithm without a translation, Load translates it in memory and does not change
// the file.
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

// Warnings are the warnings about the specification and its configuration: text
// that is legal but probably not intended.
func (s *Specification) Warnings() Diagnostics { return s.warnings }
