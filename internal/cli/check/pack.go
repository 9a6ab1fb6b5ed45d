// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"github.com/ashlar-dev/ashlar/internal/model"
)

// packModel lets a model that is to be searched work on packed states, where
// that is faster. What is found is the same. The model is nil where it is none of
// TLA+.
func packModel(ctx context.Context, m *model.Model, o checkOptions) {
	if o.profile || m == nil {
		return // what is counted are expressions that are evaluated one by one
	}
	m.Pack(func() bool { return ctx.Err() != nil })
}
