// SPDX-License-Identifier: Apache-2.0

package journal

// File is one of the journal's files, for people and for repairs.
type File struct {
	Name string
	Size int64 // in bytes
	// Info is what the first page says, when Flaw is none.
	Info SegmentInfo
	Flaw Flaw
}

// Files are the journal's files by name, as Open has found them.
func (l *Log) Files() []File {
	l.mu.Lock()
	defer l.mu.Unlock()
	files := make([]File, len(l.slots))
	for i, s := range l.slots {
		files[i] = File{Name: s.name, Size: s.size, Info: s.info, Flaw: s.flaw}
	}
	return files
}

// IsName reports whether a file of that name in a store's directory is one of the
// journal's.
func IsName(name string) bool {
	_, ok := nameNumber(name)
	return ok
}
