// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ashlar-dev/ashlar/internal/store/message"
	"github.com/ashlar-dev/ashlar/sim"
	"github.com/ashlar-dev/ashlar/store"
)

// A range delete up to the end of a keyspace is shown without the key after the end,
// and a conflict with the name of the keyspace.
func TestKeyspacesAreShownAsUsersKnowThem(t *testing.T) {
	db := open(t, sim.NewDisk(), tiny())
	k, err := db.Keyspace("users")
	must(t, err)
	must(t, k.DeleteRange([]byte("m"), nil))
	must(t, k.DeleteRange([]byte("c"), []byte("d")))
	got := map[string]string{}
	must(t, k.Messages(nil, nil, func(_ string, m message.Message) bool {
		if m.Kind == message.RangeDelete {
			got[string(m.Key)] = string(m.Value)
		}
		return true
	}))
	if len(got) != 2 || got["m"] != "" || got["c"] != "d" {
		t.Errorf("the range deletes are %q", got)
	}
	tx := db.Begin()
	_, err = tx.In(k).Get([]byte("ann"), nil)
	if !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	must(t, tx.Put([]byte("k"), nil))
	must(t, k.Put([]byte("ann"), nil))
	err = tx.Commit(store.NoSync)
	if !errors.Is(err, store.ErrConflict) || !strings.HasSuffix(err.Error(), `key "ann" of keyspace "users"`) {
		t.Errorf("a conflict in a keyspace: %v", err)
	}
	must(t, db.Close())
}
