package diag

// A wire carries the fields of a payload one after the other, either into a message or
// out of a received one. It lets clients and servers share one layout.
type wire struct {
	out *message
	in  *payload
}

func (w wire) u32(v *uint32) {
	if w.out != nil {
		w.out.u32(*v)
	} else {
		*v = w.in.u32()
	}
}

func (w wire) u64(v *uint64) {
	if w.out != nil {
		w.out.u64(*v)
	} else {
		*v = w.in.u64()
	}
}

func (w wire) bool(v *bool) {
	if w.out != nil {
		w.out.bool(*v)
	} else {
		*v = w.in.bytes(1)[0] != 0
	}
}

func (w wire) bytes(v []byte) {
	if w.out != nil {
		w.out.b = append(w.out.b, v...)
	} else {
		copy(v, w.in.bytes(len(v)))
	}
}

func (w wire) str(what string, v *string) {
	if w.out != nil {
		w.out.str(what, *v)
	} else {
		*v = w.in.str()
	}
}

// name carries a string that must not be empty.
func (w wire) name(what string, v *string) {
	w.str(what, v)
	if *v == "" {
		w.refuse(what, "it is empty")
	}
}

// refuse makes the message invalid, for sending or receiving.
func (w wire) refuse(field, why string, args ...any) {
	if w.out != nil {
		w.out.refuse(field, why, args...)
	} else {
		w.in.fail()
	}
}

// list carries the number of items, then each. An item takes at least so many bytes, so
// that a received count without room for its items is refused before memory is allocated.
func list[T any](w wire, all *[]T, least int, each func(*T)) {
	n := uint32(len(*all))
	w.u32(&n)
	if w.in != nil {
		if uint64(n)*uint64(least) > uint64(len(w.in.b)) {
			w.in.fail()
			n = 0
		}
		*all = make([]T, n)
	}
	for i := range *all {
		each(&(*all)[i])
	}
}
