// SPDX-License-Identifier: Apache-2.0

package size_test

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/pflag"

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

func TestRenamedFlagNamesTheNewOne(t *testing.T) {
	f := pflag.NewFlagSet("x", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	size.Renamed(f, "max-memory", "--memory SIZE")
	for _, args := range [][]string{{"--max-memory", "60"}, {"--max-memory=60"}, {"--max-memory"}} {
		if err := f.Parse(args); err == nil || !strings.Contains(err.Error(), "--memory SIZE") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if strings.Contains(f.FlagUsages(), "max-memory") {
		t.Error("the help shows the old name")
	}
}
