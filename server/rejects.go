package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
)

// maxShown bounds the bad records reported on the terminal; the file that
// --rejects names gets all.
const maxShown = 100

// rejectLine is a bad record, as one line of the file that --rejects names.
// The record has all bytes that it came with: as text or, where they are not
// UTF-8, in Base64; neither where they were not kept.
type rejectLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	CaseID string `json:"caseId,omitempty"`
	Member string `json:"member,omitempty"`
	Code   string `json:"code"`
	Reason string `json:"reason"`
	Record string `json:"record,omitempty"`
	Base64 []byte `json:"recordBase64,omitempty"`
}

func newRejectLine(j ingest.Reject) rejectLine {
	line := rejectLine{File: j.File, Line: j.Line, Reason: j.Err.Error()}
	if utf8.Valid(j.Raw) {
		line.Record = string(j.Raw)
	} else {
		line.Base64 = bytes.Clone(j.Raw)
	}
	var bad *incident.Error
	var cycle *ingest.CycleError
	switch {
	case errors.As(j.Err, &bad):
		line.CaseID, line.Member, line.Code, line.Reason = bad.CaseID, incident.PathString(bad.Path), string(bad.Code), bad.Reason
	case errors.As(j.Err, &cycle):
		line.CaseID, line.Member, line.Code = cycle.CaseID, "recurrence_of", "RECURRENCE_CYCLE"
	}
	return line
}

// printable replaces what a terminal would take for a command.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// rejects reports bad records: a line each to out, and to a file if asked.
type rejects struct {
	out   io.Writer
	shown int
	file  *os.File // nil if none is asked for
	lines *bufio.Writer
	err   error // the first of writing to the file
}

func newRejects(path string, out io.Writer) (*rejects, error) {
	r := &rejects{out: out}
	if path != "" {
		f, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		r.file, r.lines = f, bufio.NewWriter(f)
	}
	return r, nil
}

func (r *rejects) add(line rejectLine) {
	switch r.shown++; {
	case r.shown <= maxShown:
		text := fmt.Sprintf("%s:%d: ", line.File, line.Line)
		for _, s := range []string{line.CaseID, line.Member} {
			if s != "" {
				text += s + ": "
			}
		}
		fmt.Fprintln(r.out, printable(text+line.Reason))
	case r.shown == maxShown+1:
		fmt.Fprintln(r.out, "more bad records are not shown; --rejects FILE keeps them all")
	}
	if r.file == nil || r.err != nil {
		return
	}
	b, err := json.Marshal(line)
	if err == nil {
		_, err = r.lines.Write(append(b, '\n'))
	}
	r.err = err
}

// Close ends the file and gives the first error of writing to it.
func (r *rejects) Close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.err, r.lines.Flush(), r.file.Close())
}
