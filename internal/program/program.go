// Package program names programs by their command lines. A trace, a running process and
// a ledger get the same name for the same program, so that the name that one command
// prints is the one that another matches.
package program

import (
	"strings"
	"unicode"
)

// Host is the name of the program that runs assemblies: `dotnet app.dll`.
const Host = "dotnet"

// maxName is the longest name of a file. A process can claim a longer one.
const maxName = 255

// maxPath bounds the part of a command line that is searched for a path with spaces.
const maxPath = 4096

// Name returns the name of the program that a command line starts: its file's name, or the
// name of the assembly that the dotnet host runs. It is empty if the command line is.
func Name(commandLine string) string {
	file, arguments := split(commandLine)
	name := Base(file)
	if name != Host {
		return name
	}
	if assembly := assemblyOf(arguments); assembly != "" {
		return assembly
	}
	return name
}

// File returns the name of the file that a command line starts, which is Host for all
// programs that the dotnet host runs.
func File(commandLine string) string {
	file, _ := split(commandLine)
	return Base(file)
}

// Base returns the name of a program's file without its folder and .exe.
func Base(path string) string {
	return short(withoutSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe"))
}

// Command returns the words that start the program of a command line again; nil if they
// are unknown. It leaves out the main assembly, which the runtime adds after the path of
// an app's own host. On Linux and macOS, arguments that held spaces are several words,
// because the runtime does not quote them.
func Command(commandLine string) []string {
	if len(commandLine) > maxPath || strings.ContainsFunc(commandLine, unicode.IsControl) {
		return nil
	}
	file, arguments := split(commandLine)
	if file == "" {
		return nil
	}
	words := []string{file}
	if !strings.HasPrefix(file, "/") { // Windows keeps the quotes
		for arguments = strings.TrimLeft(arguments, " "); arguments != ""; {
			var word string
			word, arguments = next(arguments)
			words = append(words, word)
		}
		return words
	}
	assembly, rest := firstPath(arguments)
	if Base(file) == Host && assembly != "" {
		words = append(words, assembly)
	} else if assembly == "" || folder(assembly) != folder(file) {
		rest = arguments
	}
	return append(words, strings.Fields(rest)...)
}

// folder returns the folder of a path, with its last slash.
func folder(path string) string { return path[:strings.LastIndexByte(path, '/')+1] }

// firstPath separates the absolute path of an assembly, which may hold spaces, from the
// arguments that follow it. It is empty if the arguments begin with something else.
func firstPath(arguments string) (assembly, rest string) {
	if !strings.HasPrefix(arguments, "/") {
		return "", arguments
	}
	for i := range len(arguments) {
		if arguments[i] == ' ' && withoutSuffix(arguments[:i], ".dll") != arguments[:i] {
			return arguments[:i], arguments[i+1:]
		}
	}
	if withoutSuffix(arguments, ".dll") != arguments {
		return arguments, ""
	}
	return "", arguments
}

// split separates the path of the program from its arguments. On Linux and macOS, the
// runtime joins the paths of the program and of its main assembly and the arguments with
// spaces, and quotes none of them, so that a path with spaces can only be recognized by
// the part after it.
func split(line string) (file, arguments string) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		file, arguments, _ = strings.Cut(quoted, `"`)
		return file, strings.TrimLeft(arguments, " ")
	}
	file, arguments, _ = strings.Cut(line, " ")
	if !strings.HasPrefix(line, "/") {
		return file, arguments
	}
	for i := range min(len(line), maxPath) {
		if line[i] != ' ' {
			continue
		}
		before, after := line[:i], line[i+1:]
		if strings.HasSuffix(before, "/"+Host) && strings.HasPrefix(after, "/") || strings.HasPrefix(after, before+".dll") {
			return before, after
		}
	}
	return file, arguments
}

// valued are the options of the dotnet host that take a value.
var valued = map[string]bool{
	"--additionalprobingpath": true, "--additional-deps": true, "--depsfile": true, "--fx-version": true,
	"--roll-forward": true, "--roll-forward-on-no-candidate-fx": true, "--runtimeconfig": true,
}

// assemblyOf returns the name of the assembly that the dotnet host runs, given its
// arguments; empty if it runs none, as for `dotnet build`.
func assemblyOf(arguments string) string {
	for arguments != "" {
		word, rest := next(arguments)
		switch {
		case word == "exec" || word == "":
		case valued[word]:
			_, rest = next(rest)
		case strings.HasPrefix(word, "-"):
		default:
			return nameOf(word, arguments)
		}
		arguments = rest
	}
	return ""
}

// nameOf returns the name of the assembly at the start of the arguments, whose first word
// is given; empty if there is none.
func nameOf(word, arguments string) string {
	if name := stem(word); name != "" {
		return name
	}
	if !strings.HasPrefix(arguments, "/") {
		return ""
	}
	for i := range min(len(arguments), maxPath) { // an absolute path with spaces
		if arguments[i] != ' ' {
			continue
		}
		if name := stem(arguments[:i]); name != "" {
			return name
		}
	}
	if len(arguments) <= maxPath {
		return stem(arguments)
	}
	return ""
}

// next returns the first word of a command line, without its quotes, and the rest.
func next(line string) (word, rest string) {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		word, rest, _ = strings.Cut(quoted, `"`)
	} else {
		word, rest, _ = strings.Cut(line, " ")
	}
	return word, strings.TrimLeft(rest, " ")
}

// stem returns the name of an assembly's file without folder and suffix; empty if the
// path is not that of an assembly.
func stem(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for _, suffix := range [...]string{".dll", ".exe"} {
		if s := withoutSuffix(name, suffix); s != name {
			return short(s)
		}
	}
	return ""
}

// withoutSuffix removes a suffix, in either case, from a longer name.
func withoutSuffix(name, suffix string) string {
	if n := len(name) - len(suffix); n > 0 && strings.EqualFold(name[n:], suffix) {
		return name[:n]
	}
	return name
}

func short(name string) string {
	if len(name) <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName], "")
}
