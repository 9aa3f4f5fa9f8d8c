package view

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"incidentgraph/internal/index"
)

// list names a kind of list that cursors lead into. The values are in
// cursors: never renumber.
type list byte

const (
	incidentList list = 1
	relatedList  list = 2
	similarList  list = 3
	orgList      list = 4
	termList     list = 5
	chainList    list = 6
	memberList   list = 7
	searchList   list = 8
)

// cursorVersion is the first byte of every cursor.
const cursorVersion = 1

// place is a place in an ordered list: sort values and, among equal ones, a
// key. Its cursor is, in base64url without padding:
//
//	version       1 byte, 1
//	list          1 byte
//	order         1 byte length, then that many bytes: what the list is ordered by
//	values        1 byte number, then each: 0 for null, or 1 and a zigzag varint
//	key           the rest: a case id or slug
type place struct {
	list   list
	order  string
	values []index.KeyValue
	key    string
}

var cursorEncoding = base64.RawURLEncoding.Strict()

// Bounds on cursors from outside. The longest key has 128 characters, and
// there are at most maxOrders sort values.
const (
	maxCursor       = 512
	maxCursorValues = 2 * maxOrders
)

func (p *place) cursor() string {
	var buf [192]byte
	b := append(buf[:0], cursorVersion, byte(p.list), byte(len(p.order)))
	b = append(b, p.order...)
	b = append(b, byte(len(p.values)))
	for _, v := range p.values {
		if v.Null {
			b = append(b, 0)
			continue
		}
		b = binary.AppendVarint(append(b, 1), v.N)
	}
	return cursorEncoding.EncodeToString(append(b, p.key...))
}

// parseCursor reads a cursor; false where it is none. Every place has one
// cursor, so what it takes is what cursor gives.
func parseCursor(s string) (*place, bool) {
	if len(s) > maxCursor {
		return nil, false
	}
	b, err := cursorEncoding.DecodeString(s)
	if err != nil || len(b) < 4 || b[0] != cursorVersion {
		return nil, false
	}
	p := &place{list: list(b[1])}
	n := int(b[2])
	if b = b[3:]; len(b) <= n {
		return nil, false
	}
	p.order, b = string(b[:n]), b[n:]
	n, b = int(b[0]), b[1:]
	if n > maxCursorValues {
		return nil, false
	}
	p.values = make([]index.KeyValue, n)
	for i := range p.values {
		switch {
		case len(b) > 0 && b[0] == 0:
			p.values[i].Null, b = true, b[1:]
		case len(b) > 1 && b[0] == 1:
			v, size := binary.Varint(b[1:])
			if size <= 0 {
				return nil, false
			}
			p.values[i].N, b = v, b[1+size:]
		default:
			return nil, false
		}
	}
	p.key = string(b)
	return p, p.cursor() == s
}

// compare orders the places of one list: by rising values, null last, then
// by key. Lists in falling order have negated values.
func (p *place) compare(q *place) int {
	c := slices.CompareFunc(p.values, q.values, func(a, b index.KeyValue) int {
		switch {
		case a.Null && b.Null:
			return 0
		case a.Null:
			return 1
		case b.Null:
			return -1
		}
		return cmp.Compare(a.N, b.N)
	})
	if c == 0 {
		c = strings.Compare(p.key, q.key)
	}
	return c
}
