// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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
		"the switch of old":      {file: "memory = true\n", wrongSetting: "is no size"},
		"too small":              {file: "kv-memory = \"1k\"\n", wrongSetting: "at least 1M"},
		"the setting's old name": {file: "max-mb = 24\n", wrongSetting: "no setting \"max-mb\""},
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
