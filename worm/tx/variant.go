// SPDX-License-Identifier: Apache-2.0

package tx

import "fmt"

// Variant is one of the six protocols of the paper's section 4.3. The digit in
// the name is the number of message delays until all RMs know the outcome,
// without failures.
type Variant uint8

// The variants.
const (
	// A8: a transaction manager (TM) asks the RMs; each captures its register,
	// writes it and reports its vote; the TM sends the outcome.
	A8 Variant = iota + 1
	// B6: the RMs have captured their registers in advance.
	B6
	// C5: the TM listens to the registers instead of waiting for reports.
	C5
	// D4: all RMs listen to the registers; there is no message with the
	// outcome.
	D4
	// E3: there is no TM; the process that begins the transaction asks the RMs
	// itself.
	E3
	// F2: all RMs begin by themselves (Engine.Join).
	F2
)

// learning is the way in which processes learn the outcome.
type learning uint8

const (
	byReport   learning = iota // RMs report to the TM, which notifies all
	byManager                  // the TM listens and notifies all
	byEveryone                 // every process listens
)

// policy describes a variant.
type policy struct {
	name string
	// manager: a TM asks the RMs. ahead: the RMs capture registers in advance.
	manager, ahead bool
	learn          learning
	delays         int
}

var policies = [...]policy{
	A8: {"A8", true, false, byReport, 8},
	B6: {"B6", true, true, byReport, 6},
	C5: {"C5", true, true, byManager, 5},
	D4: {"D4", true, true, byEveryone, 4},
	E3: {"E3", false, true, byEveryone, 3},
	F2: {"F2", false, true, byEveryone, 2},
}

// Valid reports whether v is one of the six variants.
func (v Variant) Valid() bool { return v >= A8 && v <= F2 }

// Delays is the number of message delays until all RMs know the outcome.
func (v Variant) Delays() int { return policies[v].delays }

func (v Variant) String() string {
	if v.Valid() {
		return policies[v].name
	}
	return fmt.Sprintf("variant(%d)", uint8(v))
}

// ParseVariant returns the variant of that name: A8, B6, C5, D4, E3 or F2.
func ParseVariant(name string) (Variant, error) {
	for v := A8; v <= F2; v++ {
		if policies[v].name == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("unknown variant %q: want A8, B6, C5, D4, E3 or F2", name)
}
