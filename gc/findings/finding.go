package findings

// A Finding is one thing that the collections tell of the program.
type Finding struct {
	ID         string // of the rule: "R21"
	Title      string // "the program itself asks for collections"
	Severity   Severity
	Confidence Confidence

	// Says tells in a sentence or two what was seen, with the figures.
	Says string
	// Evidence are the same figures by name; the unit is in the name.
	Evidence []Figure
	// Collections are the numbers of some that show it, those with the longest
	// pauses first, and Shown is how many there are in all.
	Collections []uint32
	Shown       int

	Advice   []string
	Settings []Setting

	weight float64 // how much of the pauses it explains, in percent; 0 where that cannot be told
}

// A Figure is a number with its name.
type Figure struct {
	Name  string // with the unit: "pause_pct"
	Value float64
}

// A Setting is a switch of the runtime that would change what was found.
type Setting struct {
	Variable string // environment variable, from .NET 6 on; earlier ones begin with COMPlus_
	Value    string // hexadecimal, as the runtime reads it
	Property string // in runtimeconfig.json; empty where there is none
	JSON     string // the property's value
	Effect   string
}

// Severity says how much a finding matters.
type Severity uint8

const (
	Note    Severity = iota // worth knowing
	Warning                 // costs time or memory
	Problem                 // costs much
)

var severityNames = [...]string{"note", "warning", "problem"}

func (s Severity) String() string { return severityNames[s] }

// Confidence says how sure it is that the finding is what it says.
type Confidence uint8

const (
	Low    Confidence = iota // one of several explanations
	Medium                   // likely
	High                     // the events say so
)

var confidenceNames = [...]string{"low", "medium", "high"}

func (c Confidence) String() string { return confidenceNames[c] }
