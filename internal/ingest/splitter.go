package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"incidentgraph/internal/incident"
)

// element is one record of an input, not looked into yet.
type element struct {
	line int    // where it begins, from 1
	raw  []byte // valid until the next element is asked for
	// err is what is wrong where there is no record to decode.
	err *incident.Error
	// unframed tells that only its own brackets say where it ends: if it is
	// not JSON, nothing after it can be trusted.
	unframed bool
}

// layout is how records lie in an input.
type layout uint8

const (
	// lines: one record a line (JSON Lines). A broken line does not harm the
	// next.
	lines layout = iota
	// values: objects one after another, over any lines; mostly just one.
	values
	// list: the elements of one JSON array.
	list
)

// errNoRecords: the input is neither JSON nor JSON Lines.
var errNoRecords = errors.New("want a JSON object, a JSON array or JSON Lines")

// splitter cuts an input into records. It keeps one record of the largest
// size in memory, whatever the input.
type splitter struct {
	in     *bufio.Reader
	close  func()
	layout layout
	line   int // of the next byte, from 1
	ended  bool

	// What belongs to the element under way: where it begins, what has been
	// read of it, and whether that is more than a record may have.
	start int
	buf   []byte
	over  bool
	id    string // of a record that is too large, "" where it did not show
	shape shape
	// pending tells that the first line was read ahead.
	pending bool
	// inside tells that an element of the list was given.
	inside bool
}

const (
	bufferSize = 256 << 10
	// maxWindow bounds the memory for a zstd frame. zstd -22 needs as much;
	// only --long asks for more.
	maxWindow = 128 << 20
)

// newSplitter finds out what r holds. It fails with errNoRecords where
// nothing looks like JSON; the splitter's line tells then where.
func newSplitter(r io.Reader) (*splitter, error) {
	s := &splitter{line: 1, close: func() {}}
	if err := s.decompress(bufio.NewReaderSize(r, bufferSize)); err != nil {
		return s, err
	}
	mark, _ := s.in.Peek(4)
	switch {
	case isGzip(mark), isZstd(mark):
		return s, fmt.Errorf("%w; the data is compressed more than once, decompress it first", errNoRecords)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return s, fmt.Errorf("%w in UTF-8; the text begins with a UTF-16 byte order mark, save it as UTF-8", errNoRecords)
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		s.discard(3)
	}
	c, err := s.skipSpace()
	switch {
	case errors.Is(err, io.EOF):
		s.ended = true
		return s, nil
	case err != nil:
		return s, err
	case c == '[':
		s.layout = list
		s.discard(1)
		return s, nil
	case c != '{' && !s.objectFollows():
		return s, errNoRecords
	}
	return s, s.readFirst()
}

// decompress reads through gzip (RFC 1952) and zstd (RFC 8878) where their
// marks are.
func (s *splitter) decompress(in *bufio.Reader) error {
	s.in = in
	mark, _ := in.Peek(4)
	switch {
	case isGzip(mark):
		z, err := gzip.NewReader(in)
		if err != nil {
			return err
		}
		s.in = bufio.NewReaderSize(z, bufferSize)
	case isZstd(mark):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return err
		}
		s.in, s.close = bufio.NewReaderSize(z, bufferSize), z.Close
	}
	return nil
}

func isGzip(mark []byte) bool { return bytes.HasPrefix(mark, []byte{0x1f, 0x8b}) }

// isZstd tells of the mark of a frame, or of a frame to skip.
func isZstd(mark []byte) bool {
	return len(mark) == 4 && (string(mark) == "\x28\xb5\x2f\xfd" || mark[0]&0xf0 == 0x50 && string(mark[1:]) == "\x2a\x4d\x18")
}

// objectFollows tells whether some line in sight begins an object.
func (s *splitter) objectFollows() bool {
	sight, _ := s.in.Peek(bufferSize)
	return bytes.Contains(sight, []byte("\n{"))
}

// readFirst reads the first line and decides between lines and values. A line
// that does not end its value is the beginning of one over several lines,
// unless the next line begins an object where none can stand.
func (s *splitter) readFirst() error {
	s.pending = true
	if err := s.readLine(); err != nil {
		return err
	}
	if s.shape = (shape{}); s.over {
		return nil
	}
	if _, done := s.shape.feed(s.buf); done {
		return nil
	}
	if c := s.peekPastSpace(); c != 0 && (c != '{' || s.shape.wantsValue()) {
		s.layout = values
		s.buf = append(s.buf, '\n')
	}
	return nil
}

// peekPastSpace gives the first byte in sight that is no white space, 0 where
// nothing but white space follows.
func (s *splitter) peekPastSpace() byte {
	for n := 512; ; n *= 2 {
		sight, err := s.in.Peek(min(n, bufferSize))
		if rest := bytes.TrimLeft(sight, " \t\r\n"); len(rest) > 0 {
			return rest[0]
		}
		if err != nil || n >= bufferSize {
			return 0
		}
	}
}

// next gives the next element, or io.EOF. Other errors are the reader's.
func (s *splitter) next() (element, error) {
	if s.ended {
		return element{}, io.EOF
	}
	switch s.layout {
	case list:
		return s.nextInList()
	case values:
		return s.nextValue()
	default:
		return s.nextLine()
	}
}

func (s *splitter) nextLine() (element, error) {
	for {
		if !s.pending {
			if err := s.readLine(); err != nil {
				return element{}, err
			}
		}
		s.pending = false
		if raw := bytes.Trim(s.buf, " \t\r"); s.over || len(raw) > 0 {
			return s.element(raw), nil
		}
	}
}

// readLine reads a line into buf, without its end.
func (s *splitter) readLine() error {
	s.begin()
	for {
		part, err := s.in.ReadSlice('\n')
		ended := err == nil
		if ended {
			s.line++
			part = part[:len(part)-1]
		}
		s.keep(part)
		switch {
		case ended:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && (len(s.buf) > 0 || s.over):
			return nil
		default:
			return err
		}
	}
}

func (s *splitter) nextValue() (element, error) {
	if !s.pending {
		c, err := s.skipSpace()
		if err != nil {
			return element{}, err
		}
		s.begin()
		if c != '{' {
			return s.broken(fmt.Sprintf("not JSON: %q after an object, want another object or the end", c))
		}
		s.shape = shape{}
	}
	s.pending = false
	return s.readValue()
}

func (s *splitter) nextInList() (element, error) {
	c, err := s.skipSpace()
	if err == nil && s.inside && c == ',' {
		s.discard(1)
		if c, err = s.skipSpace(); err == nil && c == ']' {
			s.begin()
			return s.broken("not JSON: ']' after a comma, want a value")
		}
	} else if err == nil && s.inside && c != ']' {
		s.begin()
		return s.broken(fmt.Sprintf("not JSON: %q in the list, want ',' or ']'", c))
	}
	switch {
	case errors.Is(err, io.EOF):
		s.begin()
		return s.broken("not JSON: the list has no end")
	case err != nil:
		return element{}, err
	case c == ']':
		s.discard(1)
		return s.afterList()
	}
	s.inside = true
	s.begin()
	s.shape = shape{}
	switch c {
	case '{', '[', '"':
		return s.readValue()
	case ',', '}', ':':
		return s.broken(fmt.Sprintf("not JSON: %q in the list, want a value", c))
	}
	return s.readWord()
}

func (s *splitter) afterList() (element, error) {
	c, err := s.skipSpace()
	if err != nil {
		return element{}, err
	}
	s.begin()
	return s.broken(fmt.Sprintf("not JSON: %q after the list, want the end", c))
}

// readValue reads on until the brackets of the element are closed.
func (s *splitter) readValue() (element, error) {
	for done := false; !done; {
		sight, err := s.sight()
		if errors.Is(err, io.EOF) {
			s.ended = true
			break // what there is shows what is missing
		}
		if err != nil {
			return element{}, err
		}
		var n int
		n, done = s.shape.feed(sight)
		s.keep(sight[:n])
		s.discard(n)
	}
	return s.element(s.buf), nil
}

// readWord reads a number, true, false, null, or what stands in their place.
func (s *splitter) readWord() (element, error) {
	for {
		sight, err := s.sight()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return element{}, err
		}
		n := bytes.IndexAny(sight, ",]}{[\": \t\r\n")
		if n == 0 {
			break
		}
		if n < 0 {
			n = len(sight)
		}
		s.keep(sight[:n])
		s.discard(n)
	}
	return s.element(s.buf), nil
}

// begin begins an element at the position.
func (s *splitter) begin() {
	s.start, s.buf, s.over, s.id = s.line, s.buf[:0], false, ""
}

// keep adds to the element, as far as a record goes.
func (s *splitter) keep(part []byte) {
	if s.over {
		return
	}
	if len(s.buf)+len(part) > incident.MaxRecordBytes {
		s.over, s.id = true, idIn(s.buf[:min(len(s.buf), idWithin)])
		s.buf = s.buf[:0]
		return
	}
	s.buf = append(s.buf, part...)
}

// idWithin bounds how much of a record that is too large is looked into for
// its case id.
const idWithin = 64 << 10

// idIn gives the case id that the beginning of a record shows, "" if none.
func idIn(head []byte) string {
	inc, err := incident.Decode(head)
	if err == nil { // a whole record, with too much white space or worse behind it
		return inc.ID
	}
	var bad *incident.Error
	errors.As(err, &bad)
	return bad.CaseID
}

// element gives the element under way.
func (s *splitter) element(raw []byte) element {
	e := element{line: s.start, raw: raw, unframed: s.layout != lines}
	if s.over {
		e.raw = nil
		e.err = &incident.Error{Code: incident.TooLarge, CaseID: s.id, Offset: -1,
			Reason: fmt.Sprintf("the record has more than %d bytes", incident.MaxRecordBytes)}
	}
	return e
}

// broken gives an element that is none, and ends the input.
func (s *splitter) broken(reason string) (element, error) {
	s.ended = true
	return element{line: s.start, unframed: true, err: &incident.Error{Code: incident.NotJSON, Offset: -1, Reason: reason}}, nil
}

// skipSpace gives the first byte that is no white space, which stays.
func (s *splitter) skipSpace() (byte, error) {
	for {
		sight, err := s.sight()
		if err != nil {
			return 0, err
		}
		n := len(sight) - len(bytes.TrimLeft(sight, " \t\r\n"))
		if n < len(sight) {
			c := sight[n]
			s.discard(n)
			return c, nil
		}
		s.discard(n)
	}
}

// sight gives what is in the buffer, at least one byte.
func (s *splitter) sight() ([]byte, error) {
	if s.in.Buffered() == 0 {
		if _, err := s.in.Peek(1); err != nil {
			return nil, err
		}
	}
	return s.in.Peek(s.in.Buffered())
}

// discard passes over n bytes in sight.
func (s *splitter) discard(n int) {
	sight, _ := s.in.Peek(n)
	s.line += bytes.Count(sight, []byte{'\n'})
	_, _ = s.in.Discard(n)
}

// shape follows the brackets of one value without checking what is between
// them. It tells where the value ends if it is JSON, and some end if it is
// not.
type shape struct {
	open    []byte // brackets that are open, the outermost first, as far as deepest
	deeper  int    // number of brackets that are open inside those
	quoted  bool   // inside a string
	escaped bool   // behind a backslash
	last    byte   // the last byte outside strings that is no white space
}

// deepest is more than a record may nest.
const deepest = 2 * incident.MaxNesting

// feed takes the next bytes of the value. It gives how many of them belong to
// it and whether it ends with them.
func (s *shape) feed(b []byte) (n int, done bool) {
	for n < len(b) {
		if s.quoted {
			n += s.feedString(b[n:])
		} else {
			s.feedByte(b[n])
			n++
		}
		if !s.quoted && len(s.open) == 0 && (s.last == '}' || s.last == ']' || s.last == '"') {
			return n, true
		}
	}
	return n, false
}

func (s *shape) feedString(b []byte) int {
	if s.escaped {
		s.escaped = false
		return 1
	}
	at := bytes.IndexAny(b, `"\`)
	switch {
	case at < 0:
		return len(b)
	case b[at] == '\\':
		s.escaped = true
	default:
		s.quoted, s.last = false, '"'
	}
	return at + 1
}

func (s *shape) feedByte(c byte) {
	switch c {
	case ' ', '\t', '\r', '\n':
		return
	case '"':
		s.quoted = true
		return
	case '{', '[':
		if len(s.open) < deepest {
			s.open = append(s.open, c)
		} else {
			s.deeper++
		}
	case '}', ']':
		if s.deeper > 0 {
			s.deeper--
		} else if len(s.open) > 0 {
			s.open = s.open[:len(s.open)-1]
		}
	}
	s.last = c
}

// wantsValue tells whether a value can come next.
func (s *shape) wantsValue() bool {
	if s.quoted {
		return false
	}
	return s.last == ':' || s.last == '[' || s.last == ',' && bytes.HasSuffix(s.open, []byte{'['})
}
