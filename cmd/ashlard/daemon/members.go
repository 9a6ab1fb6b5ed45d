// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/ashlar-dev/ashlar/internal/cli/worm/access"
	"github.com/ashlar-dev/ashlar/worm/wor"
)

// membersFile is the file in its directory in which a server stores the
// cluster's description with the newest configurations that it knows: through
// it the server finds the cluster when all servers in the description that it
// is started with are gone.
const membersFile = "members.json"

// readMembers adds to a description what the server has remembered in its directory.
// A file of another cluster, or of the cluster before a restore, says nothing.
func readMembers(dir string, g *wor.Genesis) error {
	kept, err := access.Read(filepath.Join(dir, membersFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case kept.Cluster == g.Cluster:
		access.Remember(g, kept.Known)
	}
	return nil
}
