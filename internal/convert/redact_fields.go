package convert

import "strings"

// A group is a list of fields that are treated alike, for the same reason.
type group struct {
	apply  applier // nil for fields that stay, and for structures, whose fields are treated one by one
	result string  // the value in the new trace, in words
	why    string
	fields string // as Event.Field, or Field for all events that have it
}

// groups has every field of every event that has a struct in package clr. An event with
// a field that is not here is left out. The fields of an event are treated in the order of their
// groups: the ids come after the names that are looked up by them.
var groups = []group{
	{
		nil, "stays", "numbers that the GC computes: counts, sizes, generations, reasons, durations",
		`AllocationAmount AllocationAmount64 AllocationKind BucketKind Bytes BytesAllocated BytesFreed ClientSequenceNumber CollectionIndex
		CompactMechanism CompactMechanisms ConcurrentCompactMechanism CondemnReasons CondemnReasons0 CondemnReasons1 CondemnReasonsCondition
		CondemnReasonsGeneration CondemnedAllocated CondemnedGeneration Count CurrentSize Depth DesiredAllocation DoCompact DurationMicroseconds
		EdgeCount EndOfSegAllocated ExpandMechanism ExpandMechanisms ExtraGen0Commit ExtraGen0Committed FinalYoungestDesired
		FinalizationPromotedCount FinalizationPromotedSize Fragmentation FreeListAfter FreeListAllocated FreeListBefore FreeListRejected
		FreeObjAfter FreeObjBefore GapBeforeSize GCEventType GCGeneration GCHandleCount GCRootFlag GCRootKind Gen0ReductionCount GenNumber Generation GenerationNumber
		GenerationSize0 GenerationSize1 GenerationSize2 GenerationSize3 GenerationSize4 GlobalMechanisms Growth Heap HeapIndex HeapNum In Index
		IsAlloc IsLarge JoinID JoinTime JoinType Kind MemoryPressure NewAllocation NewRefCount NonePinnedSurv NumHeaps ObjectCountForTypeSample
		Objects ObjectSize Out Pages PauseMode PeggedRefCount PinnedAllocated PinnedAllocatedAdvance PinnedObjectCount PinnedSurv PreviousSize
		RangeLength RangeReservedLength RangeUsedLength Reason RefCount RunningFreeListEfficiency SampledByteOffset SinkBlockCount Size SizeAfter
		SizeBefore Surv Time TimeCompact TimePlan TimeRelocate TotalPromotedSize0 TotalPromotedSize1 TotalPromotedSize2 TotalPromotedSize3
		TotalPromotedSize4 TotalRefs TotalSize TotalSizeForTypeSample GCStart.Type GCMarkWithType.Type GCCreateSegment.Type TypeParameterCount
		ZeroRefs`,
	},
	{
		nil, "stays", "addresses in the GC heap and of handles, which differ in every run: they connect objects, roots, segments and pins",
		`Address GCKeyNodeID GCRootID GCValueNodeID HandleID Max Min NewRangeBase ObjectID OldRangeBase PlugEnd PlugStart RangeBase RangeStart
		RootedNodeAddress GCBulkEdgeValue.Value`,
	},
	{
		nil, "stays", "the runtime's version and kind",
		`BclBuildNumber BclMajorVersion BclMinorVersion BclQfeNumber ClrInstanceID Sku StartupFlags StartupMode VMBuildNumber VMMajorVersion
		VMMinorVersion VMQfeNumber`,
	},
	{
		nil, "stays", "GC settings, and what the machine and the container give the process",
		`BackgroundNanoseconds BitSettings BusyNanoseconds Gen0MaxBudgetConfig Gen0MinBudgetConfig HardLimit HighMemPercentConfig LOHThreshold LargeObjectSegmentSize
		MachineProcessors MemoryLimit PeriodMicroseconds Periods PhysicalMemoryConfig Processors QuotaMicroseconds RunNanoseconds SegmentSize
		ServerGC ServerNanoseconds StolenNanoseconds Threads ThrottledNanoseconds ThrottledPeriods WaitMicroseconds WaitNanoseconds WaitUnknown`,
	},
	{
		nil, "stays", "flags and numbers with a few meanings: whether a type has a finalizer, whether an exception is nested",
		`AppDomainFlags AppDomainIndex ExceptionFlags Flags FrameCount ReJITID`,
	},
	{
		rewritten((*Redactor).Name), "a hash", "the program's own names and texts",
		`AppDomainName ClassName CommandLine ExceptionMessage FieldName NameSpace Operation`,
	},
	{
		rewritten((*Redactor).typeName), "a hash, the same for the same type; with `--keep-system`, types of the framework keep their names", "names of types",
		`TypeName BulkTypeValue.Name`,
	},
	{
		rewritten((*Redactor).exception), "as a type's name; `System.OutOfMemoryException` always stays, because reports count it", "names of types",
		`ExceptionType`,
	},
	{
		(*Redactor).method, "`MethodNamespace` as a type's name, `MethodName` a hash of all three, `MethodSignature` empty; with `--keep-system`, methods of the framework keep their names",
		"the name and the signature alone would be alike in many types, and so could be guessed from their frequency",
		`MethodName MethodNamespace MethodSignature`,
	},
	{
		(*Redactor).module, "a hash; with `--keep-system`, the file name of a module of the framework", "folders, and names of modules",
		`ModuleILPath ModuleNativePath`,
	},
	{
		(*Redactor).assembly, "a hash; with `--keep-system`, the simple name of an assembly of the framework", "names of assemblies",
		`FullyQualifiedAssemblyName`,
	},
	{
		(*Redactor).identifier, "another number, the same for the same id", "ids are addresses of the runtime's tables, whose distances follow from the metadata of public libraries",
		`AppDomainID AssemblyID BindingID COMInterfacePointer IUnknown MethodID ModuleID TypeID TypeParameters VTable`,
	},
	{
		(*Redactor).codeStart, "the start of a slot of 64 bytes for each method", "distances between the methods of a precompiled module are those of its file",
		`EntryPoint MethodStartAddress`,
	},
	{
		(*Redactor).codeInside, "an address in the slot of its method, the same for all places in it", "as above; stacks keep their shape and their methods",
		`ExceptionEIP Stack`,
	},
	{codeFlags, "whether a method is dynamic or generic; all code looks jitted", "only files of the framework are precompiled, as a rule", `MethodFlags`},
	{codeSize, "64", "the size of precompiled code is in its file", `MethodSize`},
	{
		zeroed, "0, or empty", "tokens, sizes, signatures and paths of public files, and what is precompiled",
		`AssemblyFlags ComObjectGuid ExceptionHRESULT ManagedPdbAge ManagedPdbBuildPath ManagedPdbSignature MethodILSize MethodToken ModuleFlags NativePdbAge
		NativeBuildID NativePdbBuildPath NativePdbSignature ReferencingFieldID Reserved1 Reserved2 TypeNameID`,
	},
	{elementType, "value type, class or array", "other values each belong to one type, such as System.Byte", `CorElementType`},
	{
		rewritten(func(_ *Redactor, path string) string { return versionOf(path) }), "the version of a shared runtime, else empty", "the version distinguishes .NET Core 2 from 3",
		`RuntimeDllPath`,
	},
	{
		rewritten((*Redactor).settings), "names and numbers of settings that .NET documents; `…` for other values, a hash for other names", "environment variables of the GC",
		`Settings`,
	},
	{rewritten((*Redactor).platform), "stays if .NET has such a platform, else a hash", "the operating system and the architecture", `ArchInformation OSInformation`},
	{nil, "stays; an event with an unknown name is left out", "the runtime's own dynamic events", `GCDynamicEvent.Name`},
	{dynamicData, "stays as far as the runtime defines it", "the numbers of a dynamic event", `Data DataSize`},
	{nil, "", "", `GenData Values`},
}

// omitted are the kinds of events that are left out, because nothing in them would
// remain: the offsets of IL and native code would identify public files.
const omitted = `MethodILToNativeMap MethodDCEndILToNativeMap`

// treatments has the indexes of the groups by field.
var treatments = func() map[string]int {
	all := make(map[string]int)
	for i, g := range groups {
		for _, field := range strings.Fields(g.fields) {
			all[field] = i
		}
	}
	return all
}()

// treatmentOf returns the index of the group of a struct's field, and whether there is one.
func treatmentOf(owner, field string) (i int, known bool) {
	if i, known = treatments[owner+"."+field]; !known {
		i, known = treatments[field]
	}
	return i, known
}
