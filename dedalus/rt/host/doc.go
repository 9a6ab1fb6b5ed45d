// Package host runs one instance of a compiled program: it is what joins a
// rt.Component, which knows nothing of the world, with connections, a clock and a
// disk.
//
// In: an env.Env and env.Tasks; the program and who the instance is; where the other
// instances listen; the directory of a log that Format made, for what is durable.
// Out: a Host, which listens for other instances and for clients, ticks as long as
// something arrives, and sends what the ticks leave behind.
//
// # Ticks
//
// All that has come since the last tick arrives in the next one, up to a limit, and to
// what a tick can take within tickWithin: what a program has to say while it is busy
// leaves between two ticks.
// Meanwhile the next is gathered. What a tick makes durable is on the disk before
// anybody hears of the next tick: one sync serves all that arrived together, and nothing
// waits for a clock. What a tick sends leaves before that sync, as the language has it;
// of ticks in which nothing arrives some may follow before it, and what they send waits.
//
// # Sending
//
// Between two lives of two nodes no message is lost: what is sent is kept until the
// other side says that a tick took it and that what the tick made durable is on the
// disk, and is sent again over another connection when one breaks. It arrives once
// per life of the receiver. When a node starts anew, all that is not acknowledged is
// sent to it again, and then all that holds now and is sent while it holds
// (rt.Component.Resend). That is repeated now and then for everybody.
//
// For each node at most QueueMax bytes are kept. A message for which there is no room
// is dropped: a node that takes nothing for so long is as good as failed, and nobody
// waits for it. When it takes something again, it is sent all that holds, as one that
// starts anew. Before it comes to that, inputs from clients wait: while a node that
// is connected has more than half of QueueMax to come, no tick takes any. Messages
// between instances never wait for each other, so that no circle of full queues can
// stand still.
//
// # Pieces
//
// A rewrite may have divided a logical node into pieces, each of which is an instance.
// They lose their memory together or not at all: a piece that starts anew begins the
// next incarnation of the logical node, whose number it keeps on the disk, and the
// other pieces, as soon as they hear of it, end with a NewerError and are to be opened
// anew as of that incarnation. Between pieces nothing passes from one incarnation to
// another. A piece that carries nothing from tick to tick begins none. A message to
// another piece that is dropped, since QueueMax is full, ends the incarnation, too.
//
// # Clients
//
// A client is a node from outside that has said its name. It may not be called as an
// instance is. It sends inputs to whom it is connected with, and is sent outputs by
// whom it is connected with; for a client that has left, or has not come yet, they are
// kept for a while.
// With a key, instances prove to each other that they have it; clients have none.
// Connections may be TLS, which is the env.Network's.
//
// # Strangers
//
// Whoever can connect can say anything. What one of them has the Host keep, and what all
// of them together, has a name in Options: connections, clients, inputs that no tick has
// taken, frames that have come in part, outputs that nobody reads. When there are too
// many connections, the oldest goes that has not said who it is; a frame must end within
// a time; a batch is left at the first message that is none. Clients have no proof of
// their names: as many as ClientsMax may keep others out, and who can connect must be
// trusted so far, or shown TLS certificates.
//
// Promised: nothing from outside ends a Host or takes more memory than its limits
// name; who breaks a rule is told which, and loses the connection. Given the same
// calls of its env, it does the same.
//
// Refused: the bytes of frames (package wire), files (worm/wal), processes and their
// flags (cmd/dedalusd).
package host
