// SPDX-License-Identifier: Apache-2.0

package filesys_test

import (
	"fmt"
	"os"

	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
)

// A mail is first written under another name, and then linked where readers look:
// they see all of it, or nothing.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fs, err := filesys.Open(dir, []string{"spool", "ann"})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, _ := fs.Create("spool", "1")
	fs.Append(f, []byte("hello"))
	fs.Sync(f)
	fs.Close(f)
	fs.Link("spool", "1", "ann", "mail")
	fs.SyncDir("ann") // from here on a crash does not lose it
	fs.Unlink("spool", "1")
	fmt.Println(fs.List("ann"), fs.Shut())
	// Output: [mail] <nil>
}
