package main

// ours lists the store of this repository.
func ours() []engine { return nil }
