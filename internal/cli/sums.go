package cli

// sums are the totals of a command by process, or by another key, in the order in which the
// keys come in the trace.
type sums[K comparable, T any] struct {
	begin func() *T // makes an empty sum; nil for the zero value
	all   []*T
	by    map[K]*T
}

// of returns the sum of a key, which it makes when the key first comes.
func (s *sums[K, T]) of(key K) *T {
	sum := s.by[key]
	if sum == nil {
		if s.by == nil {
			s.by = make(map[K]*T)
		}
		if s.begin != nil {
			sum = s.begin()
		} else {
			sum = new(T)
		}
		s.by[key] = sum
		s.all = append(s.all, sum)
	}
	return sum
}
