package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table is what is printed: text in columns, or Markdown.
type table struct {
	header []string
	left   int // so many columns are words, the others numbers
	rows   [][]string
}

func (t *table) write(w io.Writer, markdown bool) error {
	if markdown {
		return t.writeMarkdown(w)
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.header}, t.rows...) {
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	return columns.Flush()
}

func (t *table) writeMarkdown(w io.Writer) error {
	rule := make([]string, len(t.header))
	for i := range rule {
		if rule[i] = "---:"; i < t.left {
			rule[i] = "---"
		}
	}
	for _, row := range append([][]string{t.header, rule}, t.rows...) {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
	}
	return nil
}

// requestTable is the table of requests.
func requestTable(rows []row) *table {
	t := &table{
		header: []string{
			"workload", "corpus", "mode", "conns",
			"ours /s", "bare /s", "gqlgen /s", "SQLite /s", "to bare", "to gqlgen", "to SQLite",
			"p50", "p99", "CPU", "allocs", "answer",
		},
		left: 3,
	}
	for _, r := range rows {
		us := r.of[ours]
		cells := []string{r.workload.name + " " + r.workload.title, r.corpus, r.mode, fmt.Sprint(r.concurrency)}
		columns := []string{ours, bare, constants, sqlite}
		cpu := make([]string, 0, len(columns))
		for _, contestant := range columns {
			cells = append(cells, cell(r.of[contestant], func(f *figure) string { return rate(f.perSecond) }))
			cpu = append(cpu, cell(r.of[contestant], func(f *figure) string { return micros(f.cpu) }))
		}
		for _, contestant := range []string{bare, constants, sqlite} {
			cells = append(cells, cell(r.of[contestant], func(*figure) string { return ratio(r.ratio[contestant]) }))
		}
		t.rows = append(t.rows, append(cells,
			micros(us.p50)+" µs", micros(us.p99)+" µs", strings.Join(cpu, " / ")+" µs",
			thousands(us.allocs), size(int64(r.bytes)),
		))
	}
	return t
}

// cell shows a figure, a dash where there is none.
func cell(f *figure, show func(*figure) string) string {
	if f == nil {
		return "–"
	}
	return show(f)
}

// footprintTable is the table of corpora.
func footprintTable(feet []footprint) *table {
	t := &table{
		header: []string{"corpus", "store", "records", "load", "text index", "records /s", "load peak", "file", "open", "heap", "peak"},
		left:   2,
	}
	for _, f := range feet {
		t.rows = append(t.rows, []string{
			f.corpus.name, f.contestant, size(f.source),
			seconds(f.load.Took), seconds(f.load.Text), thousands(float64(f.corpus.n) / f.load.Took.Seconds()), size(f.load.PeakBytes),
			size(f.file), seconds(f.open), size(f.live), size(f.peak),
		})
	}
	return t
}

// String shows a row while the next one is measured.
func (r row) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s, %d conns:", r.corpus, r.workload.name, r.mode, r.concurrency)
	for _, contestant := range []string{ours, bare, constants, sqlite} {
		if f := r.of[contestant]; f != nil {
			fmt.Fprintf(&b, "  %s %s/s", contestant, rate(f.perSecond))
		}
	}
	return b.String()
}

// rate shows requests a second.
func rate(f float64) string {
	if f < 10 {
		return fmt.Sprintf("%.1f", f)
	}
	return thousands(f)
}

func thousands(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func ratio(f float64) string {
	if f >= 10 {
		return thousands(f) + "×"
	}
	return fmt.Sprintf("%.2f×", f)
}

func micros(d time.Duration) string { return thousands(float64(d) / float64(time.Microsecond)) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func size(bytes int64) string {
	switch {
	case bytes >= 1e7:
		return thousands(float64(bytes)/1e6) + " MB"
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f KB", float64(bytes)/1e3)
}
