// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar"
	"github.com/ashlar-dev/ashlar/distsys"
	"github.com/ashlar-dev/ashlar/internal/cli/console"
	"github.com/ashlar-dev/ashlar/internal/cli/exit"
	"github.com/ashlar-dev/ashlar/internal/cli/gomodule"
	"github.com/ashlar-dev/ashlar/internal/evidence/ports"
)

// system is a system that is made and run.
type system struct {
	t      *console.Terminal
	o      options
	spec   string
	traces string
	kept   bool // the traces are kept

	conf    *distsys.Config
	program string
	survive []string // the archetypes that survive crashes
	shared  []string // which processes run together, and why

	processes []*process
	began     time.Time
	ran       time.Duration
}

// say reports the current activity.
func (s *system) say(format string, args ...any) {
	if !s.o.json {
		fmt.Fprintf(s.t.Err, format+"\n", args...)
	}
}

// build compiles the specification and builds the program.
func (s *system) build(ctx context.Context) error {
	s.say("compiling %s", s.spec)
	made, err := ashlar.Compile(s.spec, ashlar.CompileOptions{Options: s.o.library.Options(s.o.config), Package: "main", Main: true})
	var wrong *ashlar.InputError
	switch {
	case errors.As(err, &wrong):
		wrong.Print(s.t.Err)
		return exit.With(exit.Input(wrong.Configuration), nil)
	case err != nil:
		return failed(err)
	}
	made.Warnings.Print(s.t.Err)
	s.survive = made.Survive
	if err := s.place(made.Example); err != nil {
		return err
	}
	code := filepath.Join(s.o.work, "program")
	if err := errors.Join(os.MkdirAll(code, 0o777), os.MkdirAll(s.traces, 0o777)); err != nil {
		return failed(err)
	}
	if old, _ := filepath.Glob(filepath.Join(s.traces, "*.jsonl")); len(old) > 0 {
		return failed(fmt.Errorf("%s has the traces of an earlier run: remove them, or give another --work", s.traces))
	}
	mod, sum, err := gomodule.Files(ctx, "program", s.o.ashlar)
	if err != nil {
		return failed(err)
	}
	files := append(slices.Clone(made.Files), ashlar.File{Name: "go.mod", Text: mod}, ashlar.File{Name: "go.sum", Text: sum})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(code, f.Name), f.Text, 0o666); err != nil {
			return failed(err)
		}
	}
	s.say("building it")
	if s.program, err = filepath.Abs(filepath.Join(s.o.work, "node")); err != nil {
		return failed(err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", s.program, ".")
	cmd.Dir, cmd.Env = code, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return failed(fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(out)))
	}
	return nil
}

// survives reports whether a node has a process that survives crashes.
func (s *system) survives(node string) bool {
	return slices.ContainsFunc(s.conf.Nodes[node], func(m distsys.Member) bool { return slices.Contains(s.survive, m.Archetype) })
}

// loopback is an address in an example of a configuration.
var loopback = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// place determines the nodes and their addresses.
func (s *system) place(example []byte) error {
	text, name := example, "sys.json"
	if s.o.system != "" {
		var err error
		if text, err = os.ReadFile(s.o.system); err != nil {
			return failed(err)
		}
		name = s.o.system
	} else {
		if example == nil {
			return failed(fmt.Errorf("the nodes do not follow from %s: see the warnings; write them with 'ashlar compile %s --main -o DIR' and a sys.json of your own, and give --system FILE", s.spec, s.spec))
		}
		var err error
		if text, err = free(example); err != nil {
			return failed(err)
		}
	}
	conf, err := distsys.LoadConfig(bytes.NewReader(text))
	if err != nil {
		return failed(fmt.Errorf("%s: %w", name, err))
	}
	s.conf = conf
	if err := s.neighbours(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.o.work, 0o777); err != nil {
		return failed(err)
	}
	return failed(os.WriteFile(s.file(), text, 0o666))
}

// file is the configuration of the nodes.
func (s *system) file() string { return filepath.Join(s.o.work, "sys.json") }

// free replaces the addresses of an example by free ones.
func free(example []byte) ([]byte, error) {
	at := map[string]string{}
	for _, a := range loopback.FindAll(example, -1) {
		at[string(a)] = ""
	}
	addresses, err := ports.Free(len(at))
	if err != nil {
		return nil, err
	}
	for i, a := range slices.Sorted(maps.Keys(at)) {
		at[a] = addresses[i]
	}
	return loopback.ReplaceAllFunc(example, func(a []byte) []byte { return []byte(at[string(a)]) }), nil
}

// neighbours says which processes run together because they share a variable, and
// refuses those that also exchange messages.
func (s *system) neighbours() error {
	for _, node := range s.conf.NodeNames() {
		members := s.conf.Nodes[node]
		if len(members) < 2 {
			continue
		}
		uses := map[string]int{}
		var names []string
		for _, m := range members {
			names = append(names, m.Archetype+"("+m.Self.Value.String()+")")
			for _, resource := range slices.Compact(slices.Sorted(maps.Values(m.Refs))) {
				uses[resource]++
			}
		}
		var shared, exchanged []string
		for _, resource := range slices.Sorted(maps.Keys(uses)) {
			switch supply := s.conf.Resources[resource]; {
			case supply.Kind == distsys.KindMailboxes:
				if n := slices.IndexFunc(supply.At, func(a distsys.Site) bool { return a.Node == node && len(a.Indices) > 1 }); n >= 0 {
					exchanged = append(exchanged, resource)
				}
			case uses[resource] > 1 && supply.Kind == distsys.KindShared:
				shared = append(shared, resource)
			}
		}
		line := fmt.Sprintf("node %s runs %s", node, strings.Join(names, ", "))
		if len(shared) > 0 {
			line += ": they share " + strings.Join(shared, ", ")
		}
		if len(shared) > 0 && len(exchanged) > 0 && !s.o.together && s.o.system == "" {
			return failed(fmt.Errorf("%s, and exchange messages by %s: on one node there is no network between them; pass what they share in messages, or give --together", line, strings.Join(exchanged, ", ")))
		}
		s.shared = append(s.shared, line)
		s.say("%s", line)
	}
	return nil
}
