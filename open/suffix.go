package open

import "strings"

// A suffix is a kind of file that only its name identifies, because its format has no
// magic number that is public.
type suffix struct{ end, looks, opens string }

// suffixes are files of other tools that people take for traces.
var suffixes = []suffix{
	{".dtp", "a snapshot of dotTrace", "dotTrace"},
	{".dtt", "a timeline of dotTrace", "dotTrace"},
	{".dmw", "a workspace of dotMemory", "dotMemory"},
	{".diagsession", "a session of Visual Studio's profiler", "Visual Studio"},
	{".vspx", "a report of Visual Studio's profiler", "Visual Studio"},
	{".coredump", "a memory dump", "dotnet-dump analyze"},
	{".dmp", "a memory dump", "dotnet-dump analyze, WinDbg or Visual Studio"},
	{".mlpd", "a recording of Mono's log profiler", "mprof-report"},
}

// byName describes an input whose content says little by the suffix of its name, and names
// the tool that opens it.
func (e *UnknownError) byName() {
	name := strings.ToLower(e.Name)
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.end) {
			e.Detected += ", and by its name " + s.looks
			e.Hint = "open it with " + s.opens + ". " + hintEvents
			return
		}
	}
}
