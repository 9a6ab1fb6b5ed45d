// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"

	"github.com/ashlar-dev/ashlar/internal/model"
)

// packModel makes a model use packed states where that is faster; the results are
// the same. It returns nil if the model is not a TLA+ model.
func packModel(ctx context.Context, m *model.Model, o checkOptions) {
	if o.profile || m == nil {
		return // what is counted are expressions that are evaluated one by one
	}
	m.Pack(func() bool { return ctx.Err() != nil })
}
