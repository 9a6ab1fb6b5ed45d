// SPDX-License-Identifier: Apache-2.0

// Package explore finds all that a Dedalus program can do on a few inputs: in every
// order in which messages can arrive, come together in a tick, come twice, and
// nodes can crash or omit what they send and are sent; and whether another program,
// made from it by rewrites, does nothing else.
//
// In: a program, messages from outside, and bounds. Out: a check.Model, for the
// house's checker; Outcomes, the sets of answers that can be given; whether those of
// a second program are among them (Compare); and whether a component is still when
// nothing comes in (Still).
//
// Promised: within the bounds nothing is left out, and the bounds are said. What is
// sent again is under way again, as often as it is sent; so that a run which comes to
// rest may go on sending forever, and rest means that there is no further output. Failures
// are of nodes: a machine that stands for a node together with others fails with
// them. docs/decisions/dedalus.md says what of that rewrites promise to survive.
//
// Refused: that more inputs, more nodes or more crashes than the bounds do no harm.
// It is a search, not a proof.
package explore
