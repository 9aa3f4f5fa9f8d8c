package incident

import "bytes"

// Equal tells whether two records that have passed Decode say the same:
// objects member for member in any order, lists in order, strings by their
// code points, numbers by their text.
func Equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err := scan(a)
	if err != nil {
		return false
	}
	y, err := scan(b)
	if err != nil {
		return false
	}
	return x.equal(0, y, 0)
}

func (d *document) equal(i int, e *document, j int) bool {
	if d.nodes[i].kind != e.nodes[j].kind {
		return false
	}
	switch d.nodes[i].kind {
	case objectKind:
		return d.equalMembers(i, e, j)
	case arrayKind:
		return d.equalElements(i, e, j)
	case stringKind:
		return d.sameString(i, e, j)
	default:
		return bytes.Equal(d.bytes(i), e.bytes(j))
	}
}

func (d *document) equalElements(i int, e *document, j int) bool {
	if d.size(i) != e.size(j) {
		return false
	}
	y := j + 1
	for x := range d.elements(i) {
		if !d.equal(x, e, y) {
			return false
		}
		y = int(e.nodes[y].next)
	}
	return true
}

func (d *document) equalMembers(i int, e *document, j int) bool {
	if d.size(i) != e.size(j) {
		return false
	}
	var by map[string]int // made at the first member that is not in its place
	y := j + 1
	for name, x := range d.members(i) {
		value := y + 1
		if !d.sameString(name, e, y) {
			if by == nil {
				by = make(map[string]int)
				for n, v := range e.members(j) {
					by[e.name(n)] = v
				}
			}
			var ok bool
			if value, ok = by[d.name(name)]; !ok {
				return false
			}
		}
		if !d.equal(x, e, value) {
			return false
		}
		y = int(e.nodes[y+1].next)
	}
	return true
}
