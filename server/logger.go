package main

import (
	"io"
	"log/slog"
	"time"

	"golang.org/x/term"
)

// Values of --log-format.
const (
	logAuto = "auto"
	logJSON = "json"
	logText = "text"
)

// newLogger logs in words or as JSON; with auto, in words on a terminal and
// as JSON elsewhere.
func newLogger(w io.Writer, format string, level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level}
	if format == logText || format == logAuto && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.NewJSONHandler(w, o))
}

// isTerminal tells whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// milliseconds gives a time for logs, to the microsecond.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}
