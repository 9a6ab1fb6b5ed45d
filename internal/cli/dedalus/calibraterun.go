// SPDX-License-Identifier: Apache-2.0

package dedalus

import (
	"bytes"
	"context"
	_ "embed" // the program that runs components
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ashlar-dev/ashlar/internal/dedalus/cost"
	"github.com/ashlar-dev/ashlar/internal/dedalus/gen"
	"github.com/ashlar-dev/ashlar/internal/dedalus/logic"
)

//go:embed harness.go.txt
var harnessText string

// calibrateCommands is the number of commands in a run of a compiled program.
const calibrateCommands = 8192

// harnessValue, harnessMessage and harnessTask are the input of the program
// that runs components.
type harnessValue struct {
	Num uint64
	Str []byte
}

type harnessMessage struct {
	To, Relation string
	Values       []harnessValue
}

type harnessTask struct {
	Warm     time.Duration
	Together []int
	Commands [][]harnessMessage
}

// runCompiled compiles a program and runs its components under a load. It also
// measures the program's Go functions.
func runCompiled(ctx context.Context, p *logic.Program, l *cost.Load) ([]cost.Compiled, map[string]float64, error) {
	task := harnessTask{Warm: l.Warm, Together: []int{8, 64}}
	for n := range uint64(calibrateCommands) {
		var command []harnessMessage
		for _, m := range l.Command(p, n) {
			hm := harnessMessage{To: m.To, Relation: m.Fact.Relation.Name}
			for _, v := range m.Fact.Row {
				hm.Values = append(hm.Values, harnessValue{v.Num, []byte(v.Str)})
			}
			command = append(command, hm)
		}
		task.Commands = append(task.Commands, command)
	}
	text, err := runHarness(ctx, p, task)
	if err != nil {
		return nil, nil, err
	}
	var answer struct {
		Nodes     []map[string]float64
		Functions map[string]float64
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, nil, fmt.Errorf("read what the compiled program took: %w", err)
	}
	var runs []cost.Compiled
	for i, together := range task.Together {
		// Use the profile with as many commands in progress as the components
		// had.
		as := *l
		as.Clients, as.Commands = together, max(together, 16)
		pr, err := cost.Run(ctx, p, &as)
		if err != nil {
			return nil, nil, err
		}
		runs = append(runs, cost.Compiled{Program: p, Profile: pr, Micros: answer.Nodes[i]})
	}
	return runs, answer.Functions, nil
}

// runHarness generates code for a program, runs it with the harness, and returns the
// harness's output.
func runHarness(ctx context.Context, p *logic.Program, task harnessTask) ([]byte, error) {
	files, err := gen.Generate(p, "main")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "ashlar-calibrate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	args := []string{"run"}
	for _, f := range append(files, gen.File{Name: "harness_main.go", Text: harnessSource(p)}) {
		name := filepath.Join(dir, f.Name)
		if err := os.WriteFile(name, f.Text, 0o600); err != nil {
			return nil, err
		}
		args = append(args, name)
	}
	text, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "task.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return nil, err
	}
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(args, name)...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run compiled %s: %w: %s", p.Name, err, strings.TrimSpace(complaint.String()))
	}
	return out.Bytes(), nil
}

// harnessSource is the program that runs components and calls the functions.
func harnessSource(p *logic.Program) []byte {
	var imports, calls strings.Builder
	for i, f := range p.Functions {
		if f.Import == "" {
			continue
		}
		var args []string
		for _, t := range f.Params {
			switch t.Kind {
			case logic.Bytes:
				args = append(args, `[]byte("sixteen bytes of")`)
			case logic.Text, logic.Node:
				args = append(args, `"sixteen bytes of"`)
			case logic.Bool:
				args = append(args, "true")
			case logic.SetType:
				args = append(args, "nil")
			default:
				args = append(args, "7")
			}
		}
		fmt.Fprintf(&imports, "f%d %q\n", i, f.Import)
		fmt.Fprintf(&calls, "answer.Functions[%q] = call(func() { f%d.%s(%s) })\n", f.Import+"."+f.Symbol, i, f.Symbol, strings.Join(args, ", "))
	}
	return []byte(strings.NewReplacer("// IMPORTS", imports.String(), "// CALLS", calls.String()).Replace(harnessText))
}
