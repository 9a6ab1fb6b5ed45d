// Package expressions has expressions outside the subset.
package expressions

import (
	"fmt"
	"strings"
	"sync"

	"github.com/ashlar-dev/ashlar/goose/primitive/disk"
	"github.com/ashlar-dev/ashlar/goose/primitive/filesys"
	"github.com/ashlar-dev/ashlar/goose/primitive/machine"
)

type pair struct{ a, b uint64 }

func (p *pair) sum() uint64 { return p.a + p.b }

func (p *pair) both() (uint64, uint64) { return p.a, p.b }

func add(a, b uint64) uint64 { return a + b }

func methodValue(mu *sync.Mutex) func() {
	return mu.Lock // WANT MethodValue "Lock as a value"
}

func methodExpression(p *pair) uint64 {
	return (*pair).sum(p) // WANT MethodValue "sum as a value"
}

func multiValue(p *pair) uint64 {
	return add(p.both()) // WANT MultiValueCall "several results"
}

func methodOfText(m fmt.Stringer) { // WANT ForeignType "fmt.Stringer"
}

func builtins(m map[uint64]uint64, x uint64) uint64 {
	println(x)                      // WANT UnsupportedBuiltin "println"
	n := make(map[uint64]uint64, x) // WANT UnsupportedBuiltin "size for a map"
	n[1] = 2
	s := string([]byte{65})
	return uint64(len(min(s, "b"))) + min(x, 3) // WANT UnsupportedBuiltin "min"
}

func recovers() {
	recover() // WANT UnsupportedBuiltin "recover"
}

func stringOfNumber(x byte) string {
	return string(x) // WANT UnsupportedConversion "byte to string"
}

func stringOrder(s, t string) bool {
	return s < t // WANT UnsupportedComparison "order of strings"
}

func functionNil(f func()) bool {
	return f == nil // WANT UnsupportedComparison "function with nil"
}

func panics(x uint64) {
	panic(x) // WANT PanicValue "constant string"
}

func opens() {
	d, _ := disk.Open("file", 5) // WANT ForeignValue "disk.Open"
	d.Close()                    // WANT ForeignValue "Close"
}

func forges() filesys.File {
	return filesys.File(3) // WANT OpaqueValue "constant"
}

func reveals(f filesys.File) uint64 {
	return uint64(f) // WANT OpaqueValue "conversion"
}

func copiesHandle(d *disk.Disk) {
	x := *d // WANT OpaqueValue "not behind a pointer" OpaqueValue "not behind a pointer"
	x.Size()
}

func library(s string) bool {
	return strings.Contains(s, "x") // WANT ForeignCall "strings.Contains"
}

func asValue() func(uint64) string {
	return machine.UInt64ToString // WANT ForeignCall "UInt64ToString"
}

func onceFunc(f func()) func() {
	return sync.OnceFunc(f) // WANT SyncForm "sync.OnceFunc"
}

func condOfRW(mu *sync.RWMutex) *sync.Cond {
	return sync.NewCond(mu) // WANT SyncForm "condition variable"
}

func locksByCond(c *sync.Cond) {
	c.L.Lock() // WANT SyncForm "sync.Locker" SyncForm "sync.Cond" SyncForm "sync.Locker"
}

func triesLock(mu *sync.Mutex) bool {
	return mu.TryLock() // WANT SyncForm "Mutex.TryLock"
}

func waitGroupGo(wg *sync.WaitGroup) {
	wg.Go(func() {}) // WANT SyncForm "WaitGroup.Go"
}

func assertion(x any) uint64 {
	return x.(uint64) // WANT InterfaceType "type assertion"
}

type guarded struct {
	mu sync.Mutex
	n  uint64
}

func copiesLock(g *guarded) uint64 {
	h := *g // WANT LockCopy "copy of a value with a lock"
	return h.n
}

func overwritesLock(g *guarded, gs []guarded) {
	*g = guarded{}      // WANT LockCopy "assignment to a variable with a lock"
	gs[0] = guarded{}   // WANT LockCopy "assignment to a variable with a lock"
	g.mu = sync.Mutex{} // WANT LockCopy "assignment to a variable with a lock"
}

func takesLock(g guarded) uint64 { // WANT LockCopy "parameter that is a copy"
	return g.n
}

func rangesOverLocks(gs []guarded) uint64 {
	n := uint64(0)
	for _, g := range gs { // WANT LockCopy "copy of a value with a lock"
		n += g.n
	}
	return n
}

func comparesLocks(g, h *guarded) bool {
	return *g == *h // WANT LockCopy "comparison"
}

func returnsLock(g *guarded) guarded { // WANT LockCopy "result that is a copy"
	return *g // WANT LockCopy "copy of a value with a lock"
}

func addressOfTarget(p *pair) *pair {
	return &*p // WANT UnsupportedExpr "what a pointer points at"
}

func methodOfTarget(p *pair) uint64 {
	return (*p).sum() // WANT UnsupportedExpr "what a pointer points at"
}
