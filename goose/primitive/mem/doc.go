// Package mem has the devices of goose/primitive in memory, for tests, with the
// crashes of their models.
//
// A device is the hardware: it outlives its machine's crashes. Boot gives a
// handle to it for the time until the next crash, as a program opens it. A
// Machine counts the operations of all its devices, and crashes before the one
// that it was told; from then on no operation of the old handles has an effect,
// and the goroutine that calls one ends. What a crash leaves of what was not
// durable is chosen by a seed, among all that the models allow.
package mem
