package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"incidentgraph/internal/ingest"
)

// progressInterval is how often a run that is not on a terminal says where it is.
const progressInterval = 5 * time.Second

// progress shows how far an import is: a bar on a terminal, a plain line now
// and then elsewhere. Lines that are written through it do not mix with the bar.
type progress struct {
	out     io.Writer
	tty     bool
	bar     *progressbar.ProgressBar // nil where none is shown
	storing bool                     // what the bar shows
	last    time.Time                // of the last plain line
}

func newProgress(out io.Writer, tty bool) *progress {
	return &progress{out: out, tty: tty, last: time.Now()}
}

// set shows where the import is. All is read before anything is stored.
func (p *progress) set(at ingest.Progress) {
	switch {
	case !p.tty:
		p.line(at)
	case at.ToStore > 0:
		p.show(true, int64(at.Stored), int64(at.ToStore))
	default:
		p.show(false, at.BytesRead, at.BytesTotal)
	}
}

// show moves the bar.
func (p *progress) show(storing bool, done, total int64) {
	if p.bar != nil && p.storing != storing {
		p.done()
	}
	if p.bar == nil {
		p.storing = storing
		p.bar = newBar(p.out, storing, total)
	}
	_ = p.bar.Set64(done)
}

func newBar(out io.Writer, storing bool, total int64) *progressbar.ProgressBar {
	if total == 0 {
		total = -1 // unknown
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(out),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
	}
	if storing {
		options = append(options, progressbar.OptionSetDescription("storing"), progressbar.OptionShowCount())
	} else {
		options = append(options, progressbar.OptionSetDescription("reading"), progressbar.OptionShowBytes(true))
	}
	return progressbar.NewOptions64(total, options...)
}

// line says it in a line, if it is time.
func (p *progress) line(at ingest.Progress) {
	if time.Since(p.last) < progressInterval {
		return
	}
	p.last = time.Now()
	const mega = 1_000_000
	switch {
	case at.ToStore > 0:
		fmt.Fprintf(p.out, "storing: %d of %d records\n", at.Stored, at.ToStore)
	case at.BytesTotal > 0:
		fmt.Fprintf(p.out, "reading: %d records, %d %% of %d MB\n", at.Read, at.BytesRead*100/at.BytesTotal, at.BytesTotal/mega)
	default:
		fmt.Fprintf(p.out, "reading: %d records, %d MB\n", at.Read, at.BytesRead/mega)
	}
}

// Write implements io.Writer.
func (p *progress) Write(b []byte) (int, error) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	return p.out.Write(b)
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}
