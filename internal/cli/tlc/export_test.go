package tlc

// Flags are those of TLC, for tests with the whole command.
var Flags = flags
