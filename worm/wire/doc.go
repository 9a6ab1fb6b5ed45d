// Package wire is what clients and servers of WormSpace say to each other over a
// stream of bytes: frames, and how the words of package wor are written in them.
//
// In: words (wor.Request, wor.Reply, wor.Note, payloads of services), which an
// Encoder appends to bytes, many frames to one piece; and bytes in pieces of any
// length, which a Scanner cuts into frames. Out: the same words, decoded in
// place: what is long (values, payloads) is a part of the frame's own bytes, and
// whoever keeps it beyond the next call of the Scanner copies it.
//
// Promised: each word has one sequence of bytes. What Decode accepts is written
// by the Encoder as the very same bytes again, and Decode of what the Encoder
// writes is the same word, where nil and empty bytes are the same. A frame is
// never longer than FrameMax, and of one that is not there yet nothing is kept
// but the bytes that have come: no length or count from outside is believed
// before the bytes are there. Nothing is allocated for a frame, but for the
// runs of a Reply that has no room for them, and for the texts of a handshake.
//
// Refused: damaged frames, other versions, unknown types, trailing bytes,
// numbers written longer than they are. Who sends such is no peer; the
// connection ends. What a request means, whether its kind exists and whether it
// keeps to the limits of package wor is for who answers it.
//
// docs/format/worm.md describes the bytes.
package wire
