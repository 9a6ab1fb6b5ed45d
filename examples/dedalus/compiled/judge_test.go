// SPDX-License-Identifier: Apache-2.0

package compiled_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/ashlar-dev/ashlar/examples/dedalus/keys"
)

// judgeWithin bounds the search for an order of a history.
const judgeWithin = time.Minute

// store is the sequential specification of a store of keys; keys are independent. An
// operation without an output may have had any.
func store() porcupine.Model {
	return porcupine.Model{
		Partition: func(h []porcupine.Operation) [][]porcupine.Operation {
			by := map[string][]porcupine.Operation{}
			for _, o := range h {
				by[o.Input.(keys.Op).Key] = append(by[o.Input.(keys.Op).Key], o)
			}
			var out [][]porcupine.Operation
			for _, l := range by {
				out = append(out, l)
			}
			return out
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			in := input.(keys.Op)
			if in.Value != "" {
				return output == nil || output.(string) == in.Value, in.Value
			}
			return output == nil || output.(string) == state.(string), state
		},
	}
}

// judge says whether clients saw a linearizable store.
func judge(history []porcupine.Operation) error {
	switch porcupine.CheckOperationsTimeout(store(), history, judgeWithin) {
	case porcupine.Illegal:
		return fmt.Errorf("%d operations are not linearizable", len(history))
	case porcupine.Unknown:
		return fmt.Errorf("whether %d operations are linearizable was not found out within %v", len(history), judgeWithin)
	}
	return nil
}

// TestJudge: a get that finds what was overwritten before it began is refused.
func TestJudge(t *testing.T) {
	put := func(v string, call, ret int64) porcupine.Operation {
		return porcupine.Operation{Input: keys.Op{Key: "k", Value: v}, Output: v, Call: call, Return: ret}
	}
	get := func(found string, call, ret int64) porcupine.Operation {
		return porcupine.Operation{ClientId: 1, Input: keys.Op{Key: "k"}, Output: found, Call: call, Return: ret}
	}
	if err := judge([]porcupine.Operation{put("a", 0, 1), put("b", 2, 5), get("a", 3, 4), get("b", 6, 7)}); err != nil {
		t.Error(err)
	}
	if judge([]porcupine.Operation{put("a", 0, 1), put("b", 2, 3), get("a", 4, 5)}) == nil {
		t.Error("an old value was found and nobody objects")
	}
}
