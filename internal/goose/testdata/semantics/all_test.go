package semantics

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestAll runs every program. The list is below; TestTheListIsComplete compares
// it with the sources.
func TestAll(t *testing.T) {
	for name, f := range all {
		if !f() {
			t.Errorf("%s gives false", name)
		}
	}
	if got, want := resultMixed(), uint64(14740984644555640673); got != want {
		t.Errorf("resultMixed() = %d, want %d", got, want)
	}
}

func TestTheListIsComplete(t *testing.T) {
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range pkgs["semantics"].Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && strings.HasPrefix(d.Name.Name, "test") {
				n++
				if all[d.Name.Name] == nil {
					t.Errorf("%s is not in the list", d.Name.Name)
				}
			}
		}
	}
	if n != len(all) {
		t.Errorf("%d programs, %d in the list", n, len(all))
	}
}

var all = map[string]func() bool{
	"testAddressOfLocal":            testAddressOfLocal,
	"testAliasing":                  testAliasing,
	"testAppend":                    testAppend,
	"testAppendCopiesWhenFull":      testAppendCopiesWhenFull,
	"testAppendInPlace":             testAppendInPlace,
	"testAppendItself":              testAppendItself,
	"testAppendMany":                testAppendMany,
	"testAppendNothing":             testAppendNothing,
	"testAppendString":              testAppendString,
	"testAssignResultsToPlaces":     testAssignResultsToPlaces,
	"testBitComplementNarrow":       testBitComplementNarrow,
	"testBitOperations":             testBitOperations,
	"testBitOperationsSigned":       testBitOperationsSigned,
	"testBoolSlice":                 testBoolSlice,
	"testCallBesideLocal":           testCallBesideLocal,
	"testClosureCaptures":           testClosureCaptures,
	"testClosureEarlyReturn":        testClosureEarlyReturn,
	"testClosureInLoop":             testClosureInLoop,
	"testClosureInMap":              testClosureInMap,
	"testClosureInRange":            testClosureInRange,
	"testClosureRecursion":          testClosureRecursion,
	"testClosuresSeparate":          testClosuresSeparate,
	"testClosuresShare":             testClosuresShare,
	"testComparisonSigned":          testComparisonSigned,
	"testComparisons":               testComparisons,
	"testCond":                      testCond,
	"testConstantWidths":            testConstantWidths,
	"testConstants":                 testConstants,
	"testConvertNarrow":             testConvertNarrow,
	"testConvertSigned":             testConvertSigned,
	"testConvertWiden":              testConvertWiden,
	"testCopy":                      testCopy,
	"testCopyOverlap":               testCopyOverlap,
	"testCopyString":                testCopyString,
	"testDeferTakesResultFirst":     testDeferTakesResultFirst,
	"testDeferUnlock":               testDeferUnlock,
	"testEarlyReturn":               testEarlyReturn,
	"testFieldAddress":              testFieldAddress,
	"testForBreak":                  testForBreak,
	"testForBreakInMiddle":          testForBreakInMiddle,
	"testForContinue":               testForContinue,
	"testForContinueInMiddle":       testForContinueInMiddle,
	"testForEver":                   testForEver,
	"testFunctionCalledAtOnce":      testFunctionCalledAtOnce,
	"testFunctionField":             testFunctionField,
	"testFunctionValue":             testFunctionValue,
	"testGcd":                       testGcd,
	"testGoLiteralWithParameter":    testGoLiteralWithParameter,
	"testGoWaitGroup":               testGoWaitGroup,
	"testGoWithArguments":           testGoWithArguments,
	"testIfElse":                    testIfElse,
	"testIfInit":                    testIfInit,
	"testIncDec":                    testIncDec,
	"testIndex":                     testIndex,
	"testIndexTypes":                testIndexTypes,
	"testLinkedList":                testLinkedList,
	"testLockInSlice":               testLockInSlice,
	"testLocksBehindPointers":       testLocksBehindPointers,
	"testLoopCountsDown":            testLoopCountsDown,
	"testLoopTwoVariables":          testLoopTwoVariables,
	"testMachineBytes":              testMachineBytes,
	"testMachineRandom":             testMachineRandom,
	"testMachineText":               testMachineText,
	"testMake":                      testMake,
	"testMapBasics":                 testMapBasics,
	"testMapCount":                  testMapCount,
	"testMapDelete":                 testMapDelete,
	"testMapIsReference":            testMapIsReference,
	"testMapNil":                    testMapNil,
	"testMapOfSlices":               testMapOfSlices,
	"testMapOfStructs":              testMapOfStructs,
	"testMapOverwrite":              testMapOverwrite,
	"testMapRange":                  testMapRange,
	"testMapRangeBreak":             testMapRangeBreak,
	"testMapRangeReturn":            testMapRangeReturn,
	"testMethodOnInteger":           testMethodOnInteger,
	"testMethodOnLocal":             testMethodOnLocal,
	"testMethods":                   testMethods,
	"testMultipleResults":           testMultipleResults,
	"testNamedInteger":              testNamedInteger,
	"testNamedResults":              testNamedResults,
	"testNestedBreak":               testNestedBreak,
	"testNestedInPlace":             testNestedInPlace,
	"testNew":                       testNew,
	"testNilSlice":                  testNilSlice,
	"testOpAssign":                  testOpAssign,
	"testOpAssignEvaluatesOnce":     testOpAssignEvaluatesOnce,
	"testOrderOfArguments":          testOrderOfArguments,
	"testOrderOfAssignment":         testOrderOfAssignment,
	"testOrderOfElements":           testOrderOfElements,
	"testOrderOfFields":             testOrderOfFields,
	"testOrderOfLogic":              testOrderOfLogic,
	"testOrderOfMapLiteral":         testOrderOfMapLiteral,
	"testOrderOfNestedCalls":        testOrderOfNestedCalls,
	"testOrderOfOperands":           testOrderOfOperands,
	"testOrderOfReceiver":           testOrderOfReceiver,
	"testOrderOfResults":            testOrderOfResults,
	"testPanicNotReached":           testPanicNotReached,
	"testParallelAssignment":        testParallelAssignment,
	"testParametersAreCopies":       testParametersAreCopies,
	"testParse":                     testParse,
	"testPointerArgument":           testPointerArgument,
	"testPointerComparison":         testPointerComparison,
	"testPrimes":                    testPrimes,
	"testRWMutex":                   testRWMutex,
	"testRangeFixedLength":          testRangeFixedLength,
	"testRangeInt":                  testRangeInt,
	"testRangeOuterVariable":        testRangeOuterVariable,
	"testRangeReassigned":           testRangeReassigned,
	"testRangeSeesWrites":           testRangeSeesWrites,
	"testRangeSlice":                testRangeSlice,
	"testRangeValueIsCopy":          testRangeValueIsCopy,
	"testRangeVariablePerIteration": testRangeVariablePerIteration,
	"testRecursion":                 testRecursion,
	"testResultsPassedOn":           testResultsPassedOn,
	"testReturnFromNestedLoops":     testReturnFromNestedLoops,
	"testReturnNothing":             testReturnNothing,
	"testReverse":                   testReverse,
	"testShadowedParameter":         testShadowedParameter,
	"testShadowing":                 testShadowing,
	"testShadowingAcrossBranches":   testShadowingAcrossBranches,
	"testShiftLeft":                 testShiftLeft,
	"testShiftOverflowSigned":       testShiftOverflowSigned,
	"testShiftSigned":               testShiftSigned,
	"testShiftTooFar":               testShiftTooFar,
	"testShortCircuit":              testShortCircuit,
	"testSignedDivision":            testSignedDivision,
	"testSignedDivisionOverflow":    testSignedDivisionOverflow,
	"testSliceEmptyAtEnd":           testSliceEmptyAtEnd,
	"testSliceForms":                testSliceForms,
	"testSliceLiteral":              testSliceLiteral,
	"testSliceOfPointers":           testSliceOfPointers,
	"testSliceOfSlices":             testSliceOfSlices,
	"testSliceToCapacity":           testSliceToCapacity,
	"testSort":                      testSort,
	"testStringBasics":              testStringBasics,
	"testStringBuild":               testStringBuild,
	"testStringBytes":               testStringBytes,
	"testStringConversionCopies":    testStringConversionCopies,
	"testStringSlices":              testStringSlices,
	"testStringZero":                testStringZero,
	"testStructComparison":          testStructComparison,
	"testStructComparisonNested":    testStructComparisonNested,
	"testStructCopy":                testStructCopy,
	"testStructCopyOfField":         testStructCopyOfField,
	"testStructDereferenceCopies":   testStructDereferenceCopies,
	"testStructLiteral":             testStructLiteral,
	"testStructPointer":             testStructPointer,
	"testStructsInSlices":           testStructsInSlices,
	"testSwitch":                    testSwitch,
	"testSwitchDefaultFirst":        testSwitchDefaultFirst,
	"testSwitchInit":                testSwitchInit,
	"testSwitchString":              testSwitchString,
	"testSwitchTagOnce":             testSwitchTagOnce,
	"testUnaryMinus":                testUnaryMinus,
	"testUnsignedDivision":          testUnsignedDivision,
	"testValueReceiverCopies":       testValueReceiverCopies,
	"testWrap16":                    testWrap16,
	"testWrap32":                    testWrap32,
	"testWrap64":                    testWrap64,
	"testWrap8":                     testWrap8,
	"testWrapInt":                   testWrapInt,
	"testZeroValues":                testZeroValues,
}
