// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/ashlar-dev/ashlar/internal/model/profile"

// Sample notes what the workers are evaluating at this moment. It may be called
// from any goroutine, and does nothing without Options.Profile.
func (m *Model) Sample() {
	if m.profile != nil {
		m.profile.Sample()
	}
}

// Profile lists what expressions have cost, by their places, and how many samples found
// no expression being evaluated. It is nil without Options.Profile, and must not be
// called during a search.
func (m *Model) Profile() (costs []profile.Cost, outside int64) {
	if m.profile == nil {
		return nil, 0
	}
	return m.profile.Costs(m.program.Computed)
}
