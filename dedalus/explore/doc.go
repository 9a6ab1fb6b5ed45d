// Package explore finds all that a Dedalus program can do on a few inputs: in every
// order in which messages can arrive, come together in a tick, come twice, and
// nodes can crash; and whether another program, made from it by rewrites, does
// nothing else.
//
// In: a program, messages from outside, and bounds. Out: a check.Model, for the
// house's checker; Outcomes, the sets of answers that can be given; and whether
// those of a second program are among them (Compare).
//
// Promised: within the bounds nothing is left out, and the bounds are said. A
// message that was delivered is delivered again only as often as Duplicates says,
// also when its sender sends it again: what is sent at every tick would never end.
// Only after a crash of its receiver it arrives once more if it is sent again; so what
// others pass on to a node that crashed may be missing in outcomes at rest.
//
// Refused: that more inputs, more nodes or more crashes than the bounds do no harm.
// It is a search, not a proof.
package explore
