package ingest

import (
	"errors"
	"os"
)

// spoolMemory is how much a spool keeps in memory before it uses a file.
const spoolMemory = 16 << 20

// spool keeps the records of a run until they are stored: the latest bytes in
// memory, those before in a temporary file.
type spool struct {
	dir    string // of the file; "" is the system's
	memory []byte
	file   *os.File // nil while all is in memory
	size   int64    // bytes in the file
	// named tells that the file still has its name, and close has to remove it.
	named bool
}

// span is a place in a spool.
type span struct {
	at   int64
	size uint32
}

// add keeps b.
func (s *spool) add(b []byte) (span, error) {
	if len(s.memory) > 0 && len(s.memory)+len(b) > spoolMemory {
		if err := s.flush(); err != nil {
			return span{}, err
		}
	}
	at := span{s.size + int64(len(s.memory)), uint32(len(b))}
	s.memory = append(s.memory, b...)
	return at, nil
}

// flush moves what is in memory to the file.
func (s *spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "incidentgraph-import-*")
		if err != nil {
			return err
		}
		s.file = f
		// Where the system lets go of an open file's name, nothing is left
		// behind however the process ends.
		s.named = os.Remove(f.Name()) != nil
	}
	n, err := s.file.Write(s.memory)
	s.size += int64(n)
	s.memory = s.memory[:0]
	return err
}

// appendTo appends the bytes at a place to b.
func (s *spool) appendTo(b []byte, at span) ([]byte, error) {
	if at.at >= s.size {
		from := at.at - s.size
		return append(b, s.memory[from:from+int64(at.size)]...), nil
	}
	start := len(b)
	b = append(b, make([]byte, at.size)...)
	_, err := s.file.ReadAt(b[start:], at.at)
	return b, err
}

// close lets go of the file.
func (s *spool) close() error {
	s.memory = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
