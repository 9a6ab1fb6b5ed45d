package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ashlar-dev/ashlar/check"
)

// TestNativeFindsTheSame compares a search by compiled code with one in this
// process: figures, verdicts, traces, warnings.
func TestNativeFindsTheSame(t *testing.T) {
	if os.Getenv("ASHLAR_NATIVE") == "" {
		t.Skip("it compiles programs, some 20 s of CPU each the first time; set ASHLAR_NATIVE to run it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go toolchain to compile models with")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const counter = "---- MODULE M ----\nEXTENDS Integers, FiniteSets\nVARIABLES x, s\nInit == x = 0 /\\ s = {}\n" +
		"Next == \\/ x < 3000 /\\ x' = x + 1 /\\ s' = s \\cup {x % 7}\n        \\/ x > 0 /\\ x' = x - 1 /\\ \\E e \\in s : s' = s \\ {e}\n"
	cases := []struct{ name, module, cfg string }{
		{"ok", counter + "Inv == Cardinality(s) < 8 /\\ (x > 100000 => s = {}) /\\ x \\in 0..4000\n====\n", "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE"},
		{"violated", counter + "Inv == x \\in 0..4000 /\\ x < 1500\n====\n", "INIT Init NEXT Next INVARIANT Inv"},
		{"deadlock", "---- MODULE M ----\nEXTENDS Integers\nVARIABLE x\nInit == x \\in 0..1\nNext == x < 5000 /\\ x' = x + 1\nInv == x \\in 0..5000\n====\n", "INIT Init NEXT Next INVARIANT Inv"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			spec := filepath.Join(dir, "M.tla")
			for name, text := range map[string]string{spec: c.module, filepath.Join(dir, "M.cfg"): c.cfg} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			o := checkOptions{workers: 2, deadlock: true}
			search := func(native bool) *check.Result {
				m, err := loadSpecification(spec, o, func(string) {}, &check.Monitor{})
				if err != nil {
					t.Fatal(err)
				}
				packModel(context.Background(), m.model, o)
				if !native {
					r, err := check.Run(context.Background(), m.model, check.Options{Workers: 2})
					if err != nil {
						t.Fatal(err)
					}
					return r
				}
				r, why := runNative(context.Background(), m.model, o)
				if r == nil {
					t.Fatalf("no compiled search: %s", why)
				}
				return r
			}
			got, want := search(true), search(false)
			got.Bytes, want.Bytes = 0, 0
			if !reflect.DeepEqual(normal(got), normal(want)) {
				t.Errorf("compiled\n%+v\nin this process\n%+v", got, want)
			}
		})
	}
}

// normal makes empty slices nil, which is what they are after a journey.
func normal(r *check.Result) check.Result {
	out := *r
	out.Info = check.Info{}
	for _, list := range []*[]string{&out.Broken, &out.Warnings} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(out.Violations) == 0 {
		out.Violations = nil
	}
	return out
}
