// SPDX-License-Identifier: Apache-2.0

package goose

import (
	"strconv"
	"strings"
	"unicode"
)

// reserved are names that a definition of the output must not take: words of
// Coq, and what the output itself says. Generated definitions would hide them.
const reserved = ` as at by of using guard WP Variable CoFixpoint cofix cofixpoint definition else end exists exists2 fix fixpoint for forall fun if
 in let match mod rec return then where with Definition Fixpoint Inductive Lemma Theorem Proof Qed Prop Set Type SProp
 val expr loc lit base_lit struct ty bytes string list nat bool unit option Z N positive width binder true false null
 load store ref ref_zero alloc_zero zero_val structT field_get field_offset field_ty flatten
 uint64T uint32T uint16T byteT int64T boolT stringT ptrT funcT mapT unitT sliceT mutexT rwmutexT waitgroupT intT
 panic assert to_int string_len string_get string_sub string_to_slice string_to_bytes slice_to_string
 slice_ptr slice_len slice_cap slice_nil make_slice make_slice_cap slice_ref slice_get slice_set slice_sub slice_take
 slice_drop copy_up copy_slice grow_slice append_one append_slice
 map_empty new_map map_value map_get1 map_get2 map_insert map_delete map_len map_range map_get map_set map_del
 go_on break continue fun_result for_loop for_simple range_simple range_loop
 mutex_lock mutex_try_lock mutex_unlock rwmutex_lock rwmutex_unlock rwmutex_rlock rwmutex_runlock
 new_cond cond_wait cond_signal cond_broadcast waitgroup_add waitgroup_done waitgroup_wait
 disk filesys machine int u8 u16 u32 u64 str Fork Eff Fst Snd InjL InjR Val Var App UnOp BinOp ComplOp Lam Let Seq
 U8 U16 U32 U64 I64 nil cons pair fst snd S O `

// coqName is a name of the package under which Coq knows it.
func coqName(goName string) string {
	if strings.Contains(reserved, " "+goName+" ") || strings.Contains(reserved, " "+goName+"\n") {
		return goName + "_"
	}
	return goName
}

// moduleName makes a name of a Coq module of an element of an import path.
func moduleName(element string) string {
	var b strings.Builder
	for i, r := range element {
		switch {
		case r == '_' || unicode.IsLetter(r) || i > 0 && unicode.IsDigit(r):
			b.WriteRune(r)
		case i == 0 && unicode.IsDigit(r):
			b.WriteString("p")
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

// names gives the locals of one function their names. A name that hides another
// one of the same function gets a number, so that statements can be moved out of
// their blocks; and so do names of the output's own.
type names struct {
	visible []string        // innermost last
	taken   map[string]bool // everything that the function says anywhere
}

// mark and release bracket a block.
func (n *names) mark() int        { return len(n.visible) }
func (n *names) release(mark int) { n.visible = n.visible[:mark] }
func (n *names) sees(s string) bool {
	for _, v := range n.visible {
		if v == s {
			return true
		}
	}
	return false
}

// bind makes a Coq name for a Go name that comes into scope.
func (n *names) bind(goName string) string {
	s := goName
	for i := 1; n.sees(s) || strings.HasPrefix(s, "__") || i > 1 && n.taken[s]; i++ {
		s = strings.TrimLeft(goName, "_") + "_" + strconv.Itoa(i)
	}
	n.visible = append(n.visible, s)
	return s
}

// fresh makes a name for a value that Go does not name.
func (n *names) fresh() string {
	for i := 0; ; i++ {
		s := "tmp"
		if i > 0 {
			s += strconv.Itoa(i)
		}
		if !n.taken[s] && !n.sees(s) {
			n.visible = append(n.visible, s)
			return s
		}
	}
}
