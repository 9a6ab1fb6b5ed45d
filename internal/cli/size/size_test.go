// SPDX-License-Identifier: Apache-2.0

package size_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ashlar-dev/ashlar/internal/cli/size"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "100000000": 100_000_000, "1k": 1024, "512M": 536_870_912, "512MB": 512_000_000, "2G": 2_147_483_648, "1.5GiB": 1_610_612_736,
		"1T": 1_099_511_627_776, "7B": 7,
	} {
		var v size.Value
		if err := v.Set(text); err != nil || v.Bytes != want {
			t.Errorf("%s: %d, %v; want %d", text, v.Bytes, err, want)
		}
		// What is printed is read again as the same.
		if again := (size.Value{}); want > 0 && (again.Set(v.String()) != nil || again.Bytes != want) {
			t.Errorf("%s is printed as %s", text, v.String())
		}
	}
	for _, text := range []string{"", "lots", "-1", "1Q", "1 G", "NaN", "Inf", "9e18", "1025T", "M", "1MM", "1GBB"} {
		if v := (size.Value{Bytes: 5}); v.Set(text) == nil || v.Bytes != 5 {
			t.Errorf("%q is read as %d", text, v.Bytes)
		}
	}
	if err := (&size.Value{Min: 16 << 20}).Set("24"); err == nil || !strings.Contains(err.Error(), "want at least 16M") {
		t.Errorf("less than the minimum: %v", err)
	}
}

// TestRenamedFlagNamesTheNewOne: the error names both, and nothing that the user has not
// written. Errors of other flags stay as they are.
func TestRenamedFlagNamesTheNewOne(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--max-memory", "60"}, "--max-memory is now --memory SIZE"},
		{[]string{"--max-memory=60"}, "--max-memory is now --memory SIZE"},
		{[]string{"--max-memory"}, "--max-memory is now --memory SIZE"},
		{[]string{"--most"}, "--most is now --all"},
		{[]string{"--n", "x"}, `invalid argument "x" for "--n" flag: strconv.ParseInt: parsing "x": invalid syntax`},
	} {
		cmd := &cobra.Command{SilenceErrors: true, SilenceUsage: true, Run: func(*cobra.Command, []string) {}}
		cmd.Flags().Int("n", 0, "")
		size.Renamed(cmd, "max-memory", "--memory SIZE")
		size.Renamed(cmd, "most", "--all")
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
		if strings.Contains(cmd.Flags().FlagUsages(), "max-memory") {
			t.Error("the help shows the old name")
		}
	}
}
