package incident

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

// String names the kind with its article, for messages.
func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// use tells what the record decoder did with a value; what it left unused is
// what the model has no field for.
type use uint8

const (
	unused  use = iota // nobody asked: unknown as a whole
	entered            // a container whose parts have uses of their own
	taken              // known as a whole
)

// node is one value, or one member name, of a document.
type node struct {
	start, end uint32 // its bytes; strings with their quotes
	// next is the number of the node after this one and all that is in it; 0
	// while it is still open.
	next    uint32
	kind    kind
	escaped bool // a string with at least one backslash
	use     use
}

// document is a scanned JSON text: its nodes in the order of the text, so
// that a container is followed by its content, and in an object each name by
// its value.
type document struct {
	raw   []byte
	text  string // raw as a string, where the values outlive raw
	nodes []node
}

// scan checks that raw is one JSON value (RFC 8259) in valid UTF-8, without
// duplicate member names, unpaired surrogates or nesting over MaxNesting, and
// finds its nodes. Each byte is looked at once. raw must be smaller than 4 GiB.
// After an error the document holds what was complete before.
func scan(raw []byte) (*document, *Error) {
	// Most nodes are strings. One array of about the right size spares several
	// that grow.
	nodes := bytes.Count(raw, []byte{'"'})/2 + len(raw)/128 + 16
	s := scanner{document: document{raw: raw, nodes: make([]node, 0, nodes)}}
	err := s.value(0)
	if err == nil {
		s.space()
		if s.pos < len(raw) {
			err = s.unexpected("the end")
		}
	}
	return &s.document, err
}

// scanner fills a document.
type scanner struct {
	document
	pos int
}

func (s *scanner) value(depth int) *Error {
	s.space()
	if s.pos == len(s.raw) {
		return s.unexpected("a value")
	}
	switch c := s.raw[s.pos]; c {
	case '{':
		return s.object(depth + 1)
	case '[':
		return s.array(depth + 1)
	case '"':
		return s.quoted()
	case 't':
		return s.literal("true", boolKind)
	case 'f':
		return s.literal("false", boolKind)
	case 'n':
		return s.literal("null", nullKind)
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		return s.unexpected("a value")
	}
}

func (s *scanner) object(depth int) *Error {
	i, err := s.open(objectKind, depth)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		s.space()
		if n == 0 && s.skip('}') {
			break
		}
		if s.pos == len(s.raw) || s.raw[s.pos] != '"' {
			return s.unexpected("a member name in double quotes")
		}
		name := len(s.nodes)
		if err := s.quoted(); err != nil {
			return err
		}
		if s.space(); !s.skip(':') {
			return s.unexpected("':'")
		}
		if err := s.value(depth); err != nil {
			return err.under(s.name(name))
		}
		if s.space(); s.skip(',') {
			continue
		}
		if s.skip('}') {
			break
		}
		return s.unexpected("',' or '}'")
	}
	s.close(i)
	return s.distinct(i)
}

func (s *scanner) array(depth int) *Error {
	i, err := s.open(arrayKind, depth)
	if err != nil {
		return err
	}
	if s.space(); s.skip(']') {
		s.close(i)
		return nil
	}
	for n := 0; ; n++ {
		if err := s.value(depth); err != nil {
			return err.under(n)
		}
		if s.space(); s.skip(',') {
			continue
		}
		if s.skip(']') {
			s.close(i)
			return nil
		}
		return s.unexpected("',' or ']'")
	}
}

// open begins a container and gives its number.
func (s *scanner) open(k kind, depth int) (int, *Error) {
	i := len(s.nodes)
	s.nodes = append(s.nodes, node{start: uint32(s.pos), kind: k})
	if depth > MaxNesting {
		return i, s.error(TooDeep, fmt.Sprintf("nested deeper than %d lists and objects", MaxNesting))
	}
	s.pos++
	return i, nil
}

func (s *scanner) close(i int) {
	s.nodes[i].end = uint32(s.pos)
	s.nodes[i].next = uint32(len(s.nodes))
}

// leaf adds a value without parts that ends at the position.
func (s *scanner) leaf(start int, k kind, escaped bool) {
	s.nodes = append(s.nodes, node{start: uint32(start), kind: k, escaped: escaped})
	s.close(len(s.nodes) - 1)
}

func (s *scanner) literal(word string, k kind) *Error {
	if !strings.HasPrefix(string(s.raw[s.pos:min(s.pos+len(word), len(s.raw))]), word) {
		return s.unexpected("a value")
	}
	start := s.pos
	s.pos += len(word)
	s.leaf(start, k, false)
	return nil
}

func (s *scanner) number() *Error {
	start := s.pos
	s.skip('-')
	if !s.skip('0') && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.skip('.') && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('-') {
			s.skip('+')
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	s.leaf(start, numberKind, false)
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.raw) && isDigit(s.raw[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) quoted() *Error {
	start := s.pos
	s.pos++
	escaped, foreign := false, false
	for {
		at, high := special(s.raw, s.pos)
		foreign = foreign || high
		if s.pos = at; at == len(s.raw) {
			return s.unexpected("'\"'")
		}
		switch s.raw[at] {
		case '"':
			s.pos++
			if foreign && !utf8.Valid(s.raw[start:s.pos]) {
				s.pos = start + invalid(s.raw[start:])
				return s.error(InvalidUTF8, fmt.Sprintf("not UTF-8 at byte %d", s.pos))
			}
			s.leaf(start, stringKind, escaped)
			return nil
		case '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return err
			}
		default:
			return s.error(NotJSON, fmt.Sprintf("not JSON: control character %#02x at byte %d, write it as \\u%04x",
				s.raw[at], at, s.raw[at]))
		}
	}
}

func (s *scanner) escape() *Error {
	at := s.pos
	s.pos++
	if s.pos == len(s.raw) {
		return s.unexpected("an escaped character")
	}
	switch s.raw[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
	default:
		return s.unexpected(`one of "\/bfnrtu after a backslash`)
	}
	u, ok := hex4(s.raw, at)
	if !ok {
		return s.unexpected("four hexadecimal digits after \\u")
	}
	if !utf16.IsSurrogate(u) {
		s.pos = at + 6
		return nil
	}
	s.pos = at
	low, _ := hex4(s.raw, at+6)
	if utf16.DecodeRune(u, low) == utf8.RuneError {
		return s.error(InvalidUTF8, fmt.Sprintf("unpaired surrogate \\u%04x at byte %d", u, at))
	}
	s.pos = at + 12
	return nil
}

// hex4 reads the \uXXXX at b[at:].
func hex4(b []byte, at int) (rune, bool) {
	if at+6 > len(b) || b[at] != '\\' || b[at+1] != 'u' {
		return 0, false
	}
	var u rune
	for _, c := range b[at+2 : at+6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		u = u<<4 | rune(c)
	}
	return u, true
}

// special gives the place of the first quote, backslash or control character
// at or after i, len(b) if there is none, and whether a byte outside ASCII may
// lie before it. Eight bytes at a time: with x a word, (x - 0x01…) &^ x has
// the high bit of its lowest zero byte set, and bits above that mean nothing
// (Mycroft 1987).
func special(b []byte, i int) (at int, high bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs
		seen |= x
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8, seen&highs != 0
		}
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c == '"' || c == '\\' || c < ' ' {
			break
		}
		seen |= uint64(c)
	}
	return i, seen&highs != 0
}

// invalid gives the place of the first byte that is not UTF-8, len(b) if all is.
func invalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

func (s *scanner) space() {
	for s.pos < len(s.raw) && isSpace(s.raw[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

func (s *scanner) skip(c byte) bool {
	if s.pos < len(s.raw) && s.raw[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// few is up to how many members names are compared each with each.
const few = 32

// distinct refuses object i where two of its members have one name.
func (s *scanner) distinct(i int) *Error {
	n := 0
	var seen map[string]bool
	for name := range s.members(i) {
		if n++; n == few {
			seen = make(map[string]bool)
			for earlier := range s.members(i) {
				if earlier >= name {
					break
				}
				seen[s.name(earlier)] = true
			}
		}
		if seen != nil {
			if seen[s.name(name)] {
				return s.duplicate(name)
			}
			seen[s.name(name)] = true
			continue
		}
		for earlier := range s.members(i) {
			if earlier >= name {
				break
			}
			if s.sameString(earlier, &s.document, name) {
				return s.duplicate(name)
			}
		}
	}
	return nil
}

func (s *scanner) duplicate(name int) *Error {
	s.pos = int(s.nodes[name].start)
	return s.error(DuplicateMember, "there is a member with this name already").under(s.name(name))
}

// unexpected reports what stands at the position in place of want.
func (s *scanner) unexpected(want string) *Error {
	if s.pos >= len(s.raw) {
		return s.error(NotJSON, fmt.Sprintf("not JSON: ends at byte %d, want %s", len(s.raw), want))
	}
	r, n := utf8.DecodeRune(s.raw[s.pos:])
	if r == utf8.RuneError && n == 1 {
		return s.error(InvalidUTF8, fmt.Sprintf("not UTF-8 at byte %d", s.pos))
	}
	return s.error(NotJSON, fmt.Sprintf("not JSON: %q at byte %d, want %s", r, s.pos, want))
}

// error reports a problem at the position; the containers around it add the
// path on the way out.
func (s *scanner) error(c Code, reason string) *Error {
	return &Error{Code: c, Offset: s.pos, Reason: reason}
}

// under puts a step in front of the path.
func (e *Error) under(step any) *Error {
	e.Path = append([]any{step}, e.Path...)
	return e
}

// members yields name and value of each member of object i.
func (d *document) members(i int) iter.Seq2[int, int] {
	return func(yield func(name, value int) bool) {
		for k := i + 1; k < int(d.nodes[i].next); k = int(d.nodes[k+1].next) {
			if !yield(k, k+1) {
				return
			}
		}
	}
}

// elements yields the elements of list i.
func (d *document) elements(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for v := i + 1; v < int(d.nodes[i].next); v = int(d.nodes[v].next) {
			if !yield(v) {
				return
			}
		}
	}
}

// size counts the members or elements of a container.
func (d *document) size(i int) int {
	n := 0
	if d.nodes[i].kind == objectKind {
		for range d.members(i) {
			n++
		}
		return n
	}
	for range d.elements(i) {
		n++
	}
	return n
}

// bytes gives the bytes of node i as written.
func (d *document) bytes(i int) []byte { return d.raw[d.nodes[i].start:d.nodes[i].end] }

// string gives the content of string i; without escapes it shares memory with
// the document's text.
func (d *document) string(i int) string {
	n := &d.nodes[i]
	if n.escaped {
		return unescape(d.raw[n.start+1 : n.end-1])
	}
	return d.text[n.start+1 : n.end-1]
}

// name gives the content of string i in memory of its own.
func (d *document) name(i int) string {
	n := &d.nodes[i]
	if n.escaped {
		return unescape(d.raw[n.start+1 : n.end-1])
	}
	return string(d.raw[n.start+1 : n.end-1])
}

// sameString tells whether two strings have the same code points.
func (d *document) sameString(i int, e *document, j int) bool {
	a, b := &d.nodes[i], &e.nodes[j]
	if a.escaped || b.escaped {
		return d.name(i) == e.name(j)
	}
	return string(d.bytes(i)) == string(e.bytes(j))
}

// unescape reads the inside of a scanned string.
func unescape(b []byte) string {
	out := make([]byte, 0, len(b))
	for i := 0; ; {
		plain := bytes.IndexByte(b[i:], '\\')
		if plain < 0 {
			return string(append(out, b[i:]...))
		}
		out = append(out, b[i:i+plain]...)
		i += plain
		switch c := b[i+1]; c {
		case 'u':
			r, _ := hex4(b, i)
			if i += 6; utf16.IsSurrogate(r) {
				low, _ := hex4(b, i)
				r = utf16.DecodeRune(r, low)
				i += 6
			}
			out = utf8.AppendRune(out, r)
			continue
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, c)
		}
		i += 2
	}
}

// path leads from the root to node i.
func (d *document) path(i int) []any {
	var path []any
	for at := 0; at != i; {
		if d.nodes[at].kind == objectKind {
			for name, v := range d.members(at) {
				if i < int(d.nodes[v].next) {
					path, at = append(path, d.name(name)), v
					break
				}
			}
			continue
		}
		n := 0
		for v := range d.elements(at) {
			if i < int(d.nodes[v].next) {
				path, at = append(path, n), v
				break
			}
			n++
		}
	}
	return path
}
