package comparison

import (
	"math"
	"strings"
)

// widestSparkline is how many characters a sparkline has at most; of more runs,
// each shows the last of several.
const widestSparkline = 40

// sparkline draws values from the least to the largest; a run without the value
// is a space.
func sparkline(values []float64, unicode bool) string {
	marks := []rune("_.-~^")
	if unicode {
		marks = []rune("▁▂▃▄▅▆▇█")
	}
	least, largest := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			least, largest = min(least, v), max(largest, v)
		}
	}
	var b strings.Builder
	width := min(len(values), widestSparkline)
	for i := range width {
		v := values[(i+1)*len(values)/width-1]
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case largest == least:
			b.WriteRune(marks[len(marks)/2])
		default:
			b.WriteRune(marks[int((v-least)/(largest-least)*float64(len(marks)-1)+0.5)])
		}
	}
	return b.String()
}
