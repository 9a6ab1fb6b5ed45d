// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/memory"
)

// TestSizes: the configuration file takes sizes as the flags do, and a flag counts more.
func TestSizes(t *testing.T) {
	for name, c := range map[string]struct {
		file         string
		args         []string
		memory, kv   int64
		volatile     bool
		wrongSetting string
	}{
		"nothing":                {memory: 4 << 30, kv: 4 << 30},
		"the file":               {file: "memory = \"24M\"\nkv-memory = \"1.5GiB\"\nvolatile = true\n", memory: 24 << 20, kv: 3 << 29, volatile: true},
		"a number is bytes":      {file: "memory = 25000000\n", memory: 25_000_000, kv: 4 << 30},
		"a flag counts more":     {file: "memory = \"24M\"\nkv-memory = \"2G\"\n", args: []string{"--memory", "1G"}, memory: 1 << 30, kv: 2 << 30},
		"the switch of old":      {file: "memory = true\n", wrongSetting: "want one like 512M, 1.5GiB or 4G; to store nothing on disk, set volatile = true"},
		"too small":              {file: "kv-memory = \"1k\"\n", wrongSetting: "at least 1M"},
		"the setting's old name": {file: "max-mb = 24\n", wrongSetting: `the setting "max-mb" is now "memory", which takes a size: memory = "4G"`},
		"another's old name":     {file: "kv-max-mb = 24\n", wrongSetting: `the setting "kv-max-mb" is now "kv-memory", which takes a size: kv-memory = "4G"`},
		"no setting":             {file: "most = 24\n", wrongSetting: `there is no setting "most"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.toml")
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			var got config
			cmd := &cobra.Command{}
			file := got.flags(cmd)
			if err := cmd.ParseFlags(append(c.args, "--config", path)); err != nil {
				t.Fatal(err)
			}
			err := got.read(cmd, *file)
			switch {
			case c.wrongSetting != "":
				if err == nil || !strings.Contains(err.Error(), c.wrongSetting) {
					t.Errorf("the error is %v, want %q", err, c.wrongSetting)
				}
			case err != nil:
				t.Error(err)
			case got.Memory.Bytes != c.memory || got.KVMemory.Bytes != c.kv || got.Volatile != c.volatile:
				t.Errorf("%d, %d, %v; want %d, %d, %v", got.Memory.Bytes, got.KVMemory.Bytes, got.Volatile, c.memory, c.kv, c.volatile)
			}
		})
	}
}

// TestOldFlags: a flag under its old name, or with its old meaning, is refused with what to
// write instead.
func TestOldFlags(t *testing.T) {
	const noSize = ` is not a size: want one like 512M, 1.5GiB or 4G; to store nothing on disk, use --volatile`
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--max-mb", "24"}, "--max-mb is now --memory SIZE, such as --memory 4G"},
		{[]string{"--kv-max-mb=24"}, "--kv-max-mb is now --kv-memory SIZE, such as --kv-memory 4G"},
		{[]string{"--memory", "--cluster", "f"}, `invalid argument "--cluster" for "--memory" flag: "--cluster"` + noSize},
		{[]string{"--memory=true"}, `invalid argument "true" for "--memory" flag: "true"` + noSize},
		{[]string{"--memory"}, "flag needs an argument: --memory; to store nothing on disk, use --volatile"},
		{[]string{"--cluster"}, "flag needs an argument: --cluster"},
		{[]string{"--most"}, "unknown flag: --most"},
	} {
		cmd := newServeCommand()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestTooMuchMemory: a server that may need more than the machine has says so.
func TestTooMuchMemory(t *testing.T) {
	const gib = 1 << 30
	for name, c := range map[string]struct {
		args      []string
		available int64
		want      string
	}{
		"the default, a small machine": {nil, 3 * gib, "--memory 4G and --kv-memory 4G: more than the 3072 MiB of memory that are available; the system may kill the server before it refuses writes"},
		"the default, enough":          {nil, 8 * gib, ""},
		"a terabyte":                   {[]string{"--memory", "1T"}, 64 * gib, "--memory 1T and --kv-memory 4G: more than"},
		"together":                     {[]string{"--memory", "5G"}, 8 * gib, "--memory 5G and --kv-memory 4G: more than"},
		"no keys":                      {[]string{"--memory", "5G", "--registers-only"}, 8 * gib, ""},
		"no keys, too much":            {[]string{"--memory", "9G", "--registers-only"}, 8 * gib, "--memory 9G: more than"},
		"nothing is left":              {nil, 0, "the 0 MiB"},
		"nothing is known":             {[]string{"--memory", "1T"}, -1, ""},
	} {
		var got config
		cmd := &cobra.Command{}
		got.flags(cmd)
		if err := cmd.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		if warning := got.tooMuch(c.available); !strings.Contains(warning, c.want) || c.want == "" && warning != "" {
			t.Errorf("%s: the warning is %q, want %q", name, warning, c.want)
		}
	}
	if memory.Available() < 0 {
		t.Skip("did not run to its end: it is not known how much memory is available")
	}
	var got config
	var errs bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&errs)
	got.flags(cmd)
	if err := errors.Join(cmd.ParseFlags([]string{"--memory", "1024T"}), got.read(cmd, "")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(errs.String(), "--memory 1024T and --kv-memory 4G: more than") {
		t.Errorf("the server says %q", errs.String())
	}
}
