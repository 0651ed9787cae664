package ctf

// ReadByPlans makes a reader read all events by their plans, one after the other.
func (r *Reader) ReadByPlans() {
	for _, of := range r.m.members {
		for _, class := range of.streams {
			class.quick = nil
		}
	}
}
