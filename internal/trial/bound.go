package trial

import "math"

// boundLevel is how often the bound of CollectorShare may be too high.
const boundLevel = 0.05

// leastBound is the share, in percent, from which the bound says something.
const leastBound = 1

// CollectorShare returns the share of the processor time, in percent, that the collector takes
// at least under the present settings; false if nothing is known of it.
//
// The program without any collector would take no more processor time than under any setting
// without what the collector's own threads took there. What the present settings take beyond
// the least of these is the collector's: its threads, and what it costs the program's, such as
// barriers, allocation and caches. See Cai et al., Distilling the Real Cost of Production
// Garbage Collectors, arXiv 2112.07880 (lower bound overhead). Settings are compared by round.
func (r *Result) CollectorShare() (float64, bool) {
	metric := Processor
	if r.Base().Figures[ProcessorPerWork].Known() {
		metric = ProcessorPerWork
	}
	base, most := r.Base().series(metric), 0.0
	for _, o := range r.Settings {
		total, collector := o.series(metric), o.series(Collector)
		var ratios []float64
		for round := range min(len(base), len(total)) {
			gc := collector[round]
			if math.IsNaN(gc) {
				gc = 0 // it took something, or nothing
			}
			if ratio := math.Log(total[round] * max(1-gc/100, 0) / base[round]); !math.IsNaN(ratio) && !math.IsInf(ratio, 0) {
				ratios = append(ratios, ratio)
			}
		}
		if len(ratios) < leastSame {
			continue
		}
		mean, standardError := meanOf(ratios)
		half := r.table.of(2*boundLevel/float64(len(r.Settings)), len(ratios)-1) * standardError
		most = max(most, 100*(1-math.Exp(mean+half)))
	}
	return most, most >= leastBound
}
