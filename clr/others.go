package clr

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/gctrail/gctrail/trace"
)

//go:embed others.txt
var othersText string

// An other is a version of an event that the package has no Kind for.
type other struct {
	version uint32
	name    string
	layout  layout
}

// An otherID identifies such an event.
type otherID struct {
	provider string
	id       uint32
}

// others returns the table of such events, their versions in order.
var others = sync.OnceValue(func() map[otherID][]other { return readOthers(othersText) })

// otherCodes are the codes of the types in the table.
var otherCodes = map[string]code{
	"u8": codeU8, "u16": codeU16, "u32": codeU32, "u64": codeU64, "i32": codeI32, "f64": codeF64, "ptr": codePtr,
	"bool32": codeBool32, "guid": codeGUID, "utf16z": codeUTF16, "utf8z": codeANSI,
}

// readOthers reads the table. Its test checks that no line is left out.
func readOthers(text string) map[otherID][]other {
	all := make(map[otherID][]other)
	provider := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "provider":
			provider = words[1]
		case len(words) >= 3 && words[0] != "#":
			id, _ := strconv.ParseUint(words[0], 10, 32)
			version, _ := strconv.ParseUint(words[1], 10, 32)
			o := other{version: uint32(version), name: words[2]}
			for _, w := range words[3:] {
				name, kind, _ := strings.Cut(w, ":")
				o.layout.fields = append(o.layout.fields, field{key: strconv.Quote(name) + ":", code: otherCodes[kind]})
			}
			k := otherID{provider, uint32(id)}
			all[k] = append(all[k], o)
		}
	}
	return all
}

// otherEvent returns the table's entry for an event, nil if there is none.
func otherEvent(d *trace.Descriptor) *other {
	versions := others()[otherID{d.Provider, d.ID}]
	if len(versions) == 0 {
		return nil
	}
	o := &versions[0]
	for i := range versions {
		if versions[i].version <= d.Version {
			o = &versions[i]
		}
	}
	return o
}
