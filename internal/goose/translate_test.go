// SPDX-License-Identifier: Apache-2.0

package goose

import "testing"

func TestFileAndPrefix(t *testing.T) {
	for _, c := range []struct{ module, path, prefix, file string }{
		{"example.com/bank", "example.com/bank/a/b", "bank.gen", "a/b.v"},
		{"example.com/bank", "example.com/bank/a", "bank.gen", "a.v"},
		{"example.com/bank", "example.com/bank", "bank.gen", "bank.v"},
		{"example.com/bank/v2", "example.com/bank/v2", "bank.gen", "bank.v"},
		{"example.com/my-bank.go", "example.com/my-bank.go/x-y/2z", "my_bank_go.gen", "x_y/p2z.v"},
		{"v2", "v2/a", "v2.gen", "a.v"},
	} {
		if got := Prefix(c.module); got != c.prefix {
			t.Errorf("Prefix(%s) = %s, want %s", c.module, got, c.prefix)
		}
		if got := File(c.module, c.path); got != c.file {
			t.Errorf("File(%s, %s) = %s, want %s", c.module, c.path, got, c.file)
		}
	}
}
