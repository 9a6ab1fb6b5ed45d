package rewrite

import "github.com/ashlar-dev/ashlar/dedalus/analyze"

// stateMachine refuses all.
func stateMachine(*site) analyze.Verdict { return no(nil, "no batches are made yet") }

func batch(*site) {}

// asymmetric refuses all.
func asymmetric(*site) analyze.Verdict { return no(nil, "no batches are made yet") }

func exchange(*site) {}
