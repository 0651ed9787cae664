package findings

// A Claim is a program on which a rule was tested, with a fact about it that its own output or
// its source gives, independently of any trace.
type Claim struct {
	Program string // with its runtime: "lab poh, .NET 10"
	Truth   string // "202 of the 265 MB of its pinned object heap are free"
}

// A Measurement compares a program before and after it followed advice.
type Measurement struct {
	Program       string // with its runtime, and the settings of both sides
	Change        string // "GCGen0MaxBudget=0x2000000"
	Before, After string // figures with units, as "451 MB committed, 2.1 % paused"
}

// A Basis supports advice or a setting: measurements, or the reason that there are none.
// Advice without measurements is worded as a thing to try. Advice that only looks further
// needs neither, because it changes nothing that could be measured.
type Basis struct {
	Measured []Measurement
	Untried  string // why it was not measured
	Looks    bool
}
