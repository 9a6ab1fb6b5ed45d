// SPDX-License-Identifier: Apache-2.0

package mutant

// copyMutants are about what leaves a store: copies and increments.
func copyMutants() []Mutant {
	copies := func(name, in string, kind Kind, breaks, before, after, run string) Mutant {
		return Mutant{
			Name: "store/copies/" + name, In: in, Kind: kind, Breaks: breaks, Old: before, New: after,
			Packages: []string{"store"}, Run: run,
		}
	}
	return []Mutant{
		copies("a-place-is-a-branch", "store", Lost,
			"An increment leaves out a branch that stands where the former copy had another one.",
			"if before, ok := c.since.find(page); !ok || before != s {", "if _, ok := c.since.find(page); !ok {", "TestCopiesAgainstAMap"),
		copies("a-place-is-a-large-value", "store", Lost,
			"An increment leaves out a large value that stands where the former copy had another one.",
			"if s == before {", "if s == before || len(before) > 0 {", "TestCopiesAgainstAMap"),
		copies("what-is-checked-is-not-what-is-written", "store", Unguarded,
			"A page that the disk read wrongly for the copy, and rightly for the check, is in the copy.",
			"!ok || got != want {", "!ok {", "TestCopyFromADiskThatLies"),
		copies("large-values-are-not-checked", "store", Unguarded,
			"A large value that the disk read wrongly is in the copy.",
			"if err == nil && crc != ref.CRC {", "if err == nil && crc != ref.CRC && false {", "TestCopyFromADiskThatLies"),
		copies("any-increment-follows", "store", Unguarded,
			"An increment is applied to a copy that it was not made for.",
			"if r.which > 1 && (mark.store != r.mark.store || mark.base != r.mark.id) {", "if r.which > 1 && mark.store != r.mark.store {", "TestCopiesThatDoNotFollow"),
		copies("any-store-may-be-the-former", "store", Unguarded,
			"An increment since a copy of another store is made.",
			"if since.store != uuid || since.number > c.mark.number {", "if since.number > c.mark.number {", "TestCopiesThatDoNotFollow"),
		copies("bytes-behind-a-copy", "store", Unguarded,
			"What stands behind the end of a copy is not looked at.",
			"return id, b[len(id):], r.over()", "return id, b[len(id):], nil", "TestDamagedCopies"),
		copies("sections-are-believed", "internal/store/stream", Unguarded,
			"A damaged section of a copy is restored.",
			"got := binary.LittleEndian.Uint32(head[12:]); got != crc {", "got := binary.LittleEndian.Uint32(head[12:]); got != crc && false {", "TestDamagedCopies"),
		copies("superblock-before-the-pages", "store", Lost,
			"A restored store has its superblock while its pages may still be lost.",
			"\tif err := r.file.Sync(); err != nil {\n\t\treturn err\n\t}\n\tif _, err := r.file.WriteAt(r.block, table.SuperAddr(0)); err != nil {\n\t\treturn err\n\t}\n\treturn r.file.Sync()",
			"\t_, err := r.file.WriteAt(r.block, table.SuperAddr(0))\n\treturn err", "TestCrashesOfRestore"),
		copies("restored-and-not-read-again", "store", Unguarded,
			"A store is called restored whose pages the disk has not written.",
			"return examineFile(ctx, world, name, o)", "return nil", "TestRestoreToADiskThatLies"),
	}
}
