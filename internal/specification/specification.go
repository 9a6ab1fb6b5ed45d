// SPDX-License-Identifier: Apache-2.0

// Package specification loads a module and its configuration from files and builds
// a model to check.
//
// In: a Files, the path of a module, and the options that locate the configuration
// and further modules. Out: a Specification, and from it models. An error in the
// input is an *Error; an error of the file system is any other error. Warnings are
// in Specification.Diagnostics.
//
// Promised: every command and every user of package ashlar reads a specification
// in the same way. Refused: decisions about a search.
package specification

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ashlar-dev/ashlar/internal/model"
	"github.com/ashlar-dev/ashlar/internal/source"
	"github.com/ashlar-dev/ashlar/internal/tla/config"
	"github.com/ashlar-dev/ashlar/internal/tla/core"
	"github.com/ashlar-dev/ashlar/internal/tla/load"
	"github.com/ashlar-dev/ashlar/internal/tla/pcal"
	"github.com/ashlar-dev/ashlar/internal/tla/trans"
)

// NothingCrashes: ashlar check --crashes 1 for a module without archetypes
const NothingCrashes source.Code = "NothingCrashes"

// Options control how a specification is read. The zero value reads the
// configuration beside the module.
type Options struct {
	// Config is the path of the configuration. If it is empty, Load tries the .cfg
	// file beside the module with the module's name, then the configuration
	// section in the module itself, and then the default configuration.
	Config string
	// Libraries are directories of modules; see load.Options.
	Libraries []string
	// Retranslate translates an algorithm even if its translation is in the file.
	Retranslate bool
}

// Specification is a module with everything that it uses and its configuration, free
// of errors. After Load it is immutable except for Crash and for Diagnostics, to
// which Model adds its warnings.
type Specification struct {
	Path   string // of the module's file
	Loaded *load.Loaded
	Config *config.Config
	// ConfigFile is the file of the configuration, "" for the default one.
	// ConfigText is its text.
	ConfigFile string
	ConfigText []byte
	// Diagnostics are the warnings.
	Diagnostics *source.List
}

// Error is an error in the input, that is in the module or in its
// configuration.
type Error struct {
	Diagnostics *source.List // with warnings, and at least one error
	// Configuration reports that the error is in the configuration. File is the
	// configuration's file, "" for the default one.
	Configuration bool
	File          string
}

func (e *Error) Error() string { return e.Diagnostics.Error() }

// File adds the file extension of modules to a path that has none.
func File(path string) string {
	if filepath.Ext(path) == "" {
		return path + ".tla"
	}
	return path
}

// Load reads the module at path, or at path.tla, and its configuration.
func Load(files load.Files, path string, o Options) (*Specification, error) {
	path = File(path)
	loaded, diags, err := load.Load(files, path, load.Options{Translate: trans.InMemory, WarnStale: !o.Retranslate,
		Retranslate: o.Retranslate, Libraries: o.Libraries})
	if err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, &Error{Diagnostics: diags}
	}
	s := &Specification{Path: path, Loaded: loaded, Diagnostics: diags}
	if s.Config, s.ConfigText, s.ConfigFile, err = ReadConfig(files, path, o.Config, loaded.Spec, diags); err != nil {
		return nil, err
	}
	if diags.HasErrors() {
		return nil, s.misconfigured(diags)
	}
	return s, nil
}

// ReadConfig reads the named configuration. Without a name it reads the one beside the
// module, or that in the module's file, or builds the default one. file is the file that
// it read, "" for the default. It adds errors in the configuration to diags. If a name
// has no extension and no such file exists, ReadConfig tries the name with .cfg. The
// name of a module stands for the configuration in that module's file.
func ReadConfig(files load.Files, module, named string, s *core.Spec, diags *source.List) (c *config.Config, text []byte, file string, err error) {
	file = named
	if file == "" {
		file = strings.TrimSuffix(module, filepath.Ext(module)) + ".cfg"
	}
	text, err = files.ReadFile(file)
	if filepath.Ext(file) == "" && errors.Is(err, fs.ErrNotExist) {
		if more, also := files.ReadFile(file + ".cfg"); also == nil {
			text, err, file = more, nil, file+".cfg"
		}
	}
	switch {
	case err == nil && filepath.Ext(file) == ".tla":
		name := strings.TrimSuffix(filepath.Base(file), ".tla")
		if text = config.Section(text, name); text == nil {
			return nil, nil, "", fmt.Errorf("read configuration: %s has no part that begins with ---- CONFIG %s ----", file, name)
		}
		return config.Parse(source.NewFile(file, text), diags), text, file, nil
	case err == nil:
		return config.Parse(source.NewFile(file, text), diags), text, file, nil
	case named != "" || !errors.Is(err, fs.ErrNotExist):
		return nil, nil, "", fmt.Errorf("read configuration: %w", err)
	}
	whole, err := files.ReadFile(module)
	if err != nil {
		return nil, nil, "", fmt.Errorf("read configuration: %w", err)
	}
	if text = config.Section(whole, strings.TrimSuffix(filepath.Base(module), ".tla")); text != nil {
		return config.Parse(source.NewFile(module, text), diags), text, module, nil
	}
	return config.Default(func(name string) bool { return s.Names[name] != nil }), nil, "", nil
}

// Model builds a model and adds its warnings to Diagnostics. An algorithm that was
// translated in memory is explored as an algorithm, not as its translated text.
func (s *Specification) Model(o model.Options) (*model.Model, error) {
	m, err := model.NewDirect(s.Loaded.Spec, s.Loaded.Plain, s.Config, o)
	var wrong *source.List
	switch {
	case errors.As(err, &wrong):
		// The module itself is valid; the configuration requests something that
		// it does not have. A warning about the module may show the reason, such
		// as a misspelled algorithm.
		all := new(source.List)
		all.Append(s.Diagnostics)
		all.Append(wrong)
		return nil, s.misconfigured(all)
	case err != nil:
		return nil, err
	}
	s.Diagnostics.Append(m.Warnings())
	return m, nil
}

// Crash lets processes crash at most n times, whatever the configuration says.
// Call it before Model. It returns an error if no process can crash.
func (s *Specification) Crash(n int32) error {
	known := s.Loaded.Spec.Names[pcal.CrashBound] != nil
	for _, c := range s.Loaded.Spec.Constants {
		known = known || c.Name == pcal.CrashBound
	}
	if s.Loaded.Plain != nil {
		known = s.Loaded.Plain.Crashes != nil // the module may have the name although nothing crashes
	}
	if !known {
		wrong := new(source.List)
		wrong.Add(source.Diagnostic{Code: NothingCrashes, Span: s.Loaded.Root.Name.Span(),
			Message: fmt.Sprintf("no process of %s crashes, and --crashes %d asks for it: expected an archetype with durable variables or a label recover", s.Loaded.Spec.Name, n),
			Repair:  "declare what lasts: durable variables x = 0;"})
		return s.misconfigured(wrong)
	}
	s.Config.Give(pcal.CrashBound, n)
	return nil
}

func (s *Specification) misconfigured(diags *source.List) *Error {
	return &Error{Diagnostics: diags, Configuration: true, File: s.ConfigFile}
}
