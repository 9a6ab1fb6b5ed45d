// SPDX-License-Identifier: Apache-2.0

// Package size parses numbers of bytes as people write them on a command line: 512M,
// 2G, 1.5GiB, 100000000.
//
// In: text. Out: bytes. Refused: text that is not such a number, and numbers below
// the minimum of a flag.
package size

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// units are the suffixes. K, M, G and T are powers of 1024, as are KiB and so on; kB,
// MB and so on are powers of 1000.
var units = map[string]float64{"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// bytesMax is the maximum size that a flag accepts: a pebibyte.
const bytesMax = 1 << 50

// Value is a flag that takes a size. It implements pflag.Value.
type Value struct {
	Bytes int64
	Min   int64 // 0 is no minimum
}

// Set reads a size.
func (v *Value) Set(text string) error {
	digits := strings.TrimRight(text, "kKMGTiB")
	n, err := strconv.ParseFloat(digits, 64)
	unit, ok := units[text[len(digits):]]
	if err != nil || !ok || !(n >= 0 && n*unit <= bytesMax) {
		return fmt.Errorf("%q is not a size: want one like 512M, 1.5GiB or 4G", text)
	}
	if bytes := int64(n * unit); bytes < v.Min {
		return fmt.Errorf("%q is too small: want at least %s; a number without a suffix is bytes", text, format(v.Min))
	}
	v.Bytes = int64(n * unit)
	return nil
}

// String formats the size so that Set can parse it; it is empty if no size is
// set.
func (v *Value) String() string {
	if v.Bytes == 0 {
		return ""
	}
	return format(v.Bytes)
}

// UnmarshalText reads a size from a configuration file.
func (v *Value) UnmarshalText(text []byte) error { return v.Set(string(text)) }

// Type implements pflag.Value.
func (v *Value) Type() string { return "SIZE" }

// format writes bytes in the largest unit that divides them.
func format(n int64) string {
	for _, u := range []string{"T", "G", "M", "K"} {
		if k := int64(units[u]); n >= k && n%k == 0 {
			return fmt.Sprintf("%d%s", n/k, u)
		}
	}
	return strconv.FormatInt(n, 10)
}

// Renamed refuses the old name of a command's flag, with or without a value. The error
// tells the user what to write instead.
func Renamed(cmd *cobra.Command, old, instead string) {
	cmd.Flags().Func(old, "", func(string) error { return fmt.Errorf("--%s is now %s", old, instead) })
	f := cmd.Flags().Lookup(old)
	f.Hidden, f.NoOptDefVal = true, "any"
	others := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The flag package's message mentions the value, which the user may not
		// have given.
		if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) && wrong.GetFlag() == f {
			return wrong.Unwrap()
		}
		return others(cmd, err)
	})
}
