package findings

// Names and meaning of the settings are those of the runtime's gcconfig.h and of
// its documentation. The runtime reads the variables as hexadecimal numbers.
var (
	gen0Size = Setting{
		Variable: "DOTNET_GCgen0size", Value: "0x8000000",
		Effect: "a budget of 128 MB for generation 0: fewer collections, more memory",
	}
	gen0MaxBudget = Setting{
		Variable: "DOTNET_GCGen0MaxBudget", Value: "0x2000000",
		Effect: "at most 32 MB of new objects on each heap between collections: less memory, more collections",
	}
	conserveMemory = Setting{
		Variable: "DOTNET_GCConserveMemory", Value: "0x8",
		Property: "System.GC.ConserveMemory", JSON: "8",
		Effect: "full collections compact where more than 20 % of generation 2 would be free space",
	}
	hardLimit = Setting{
		Variable: "DOTNET_GCHeapHardLimitPercent", Value: "0x32",
		Property: "System.GC.HeapHardLimitPercent", JSON: "50",
		Effect: "the heap takes at most 50 % of the memory",
	}
	highMemPercent = Setting{
		Variable: "DOTNET_GCHighMemPercent", Value: "0x5F",
		Property: "System.GC.HighMemoryPercent", JSON: "95",
		Effect: "memory counts as high from 95 % on; only where much memory is left at 90 %",
	}
	lohThreshold = Setting{
		Variable: "DOTNET_GCLOHThreshold", Value: "0x30D40",
		Property: "System.GC.LOHThreshold", JSON: "200000",
		Effect: "objects up to 200,000 bytes are collected with the young ones",
	}
	serverGC = Setting{
		Variable: "DOTNET_gcServer", Value: "0x1",
		Property: "System.GC.Server", JSON: "true",
		Effect: "one heap and one collecting thread for each processor, larger budgets",
	}
	workstationGC = Setting{
		Variable: "DOTNET_gcServer", Value: "0x0",
		Property: "System.GC.Server", JSON: "false",
		Effect: "one heap, collected by the thread that needs the memory",
	}
	heapCount = Setting{
		Variable: "DOTNET_GCHeapCount", Value: "0x4",
		Property: "System.GC.HeapCount", JSON: "4",
		Effect: "four heaps instead of one for each processor",
	}
	targetTCP = Setting{
		Variable: "DOTNET_GCDTargetTCP", Value: "0x1",
		Property: "System.GC.DTargetTCP", JSON: "1",
		Effect: "aims at 1 % of throughput spent on collecting instead of 2 %: more heaps, more memory",
	}
	noDATAS = Setting{
		Variable: "DOTNET_GCDynamicAdaptationMode", Value: "0x0",
		Property: "System.GC.DynamicAdaptationMode", JSON: "0",
		Effect: "a fixed number of heaps, as before .NET 9",
	}
)
