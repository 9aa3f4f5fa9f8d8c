package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	runGivenTask()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	exit(err)
}

func exit(err error) {
	switch {
	case err == nil:
		os.Exit(0)
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// run runs the suite.
func run(ctx context.Context, args []string) error {
	s, markdown, err := parse(args)
	if err != nil {
		return err
	}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "incidentgraph-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only a program lies there
	if s.sqlite, err = buildSQLite(ctx, dir); err != nil {
		s.note("SQLite takes no part: %v", err)
	}
	var rows []row
	var feet []footprint
	for _, c := range s.corpora {
		r, f, err := s.measureCorpus(ctx, c)
		if err != nil {
			return fmt.Errorf("corpus %s: %w", c.name, err)
		}
		rows, feet = append(rows, r...), append(feet, f...)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.workload.name, b.workload.name) })
	fmt.Printf("%s, %d processors, %s; medians of %d runs of %s each\n\n",
		runtime.Version(), runtime.NumCPU(), processor(), s.runs, s.duration)
	if err := requestTable(rows).write(os.Stdout, markdown); err != nil {
		return err
	}
	fmt.Println()
	return footprintTable(feet).write(os.Stdout, markdown)
}

// parse reads the command line.
func parse(args []string) (s *settings, markdown bool, err error) {
	s = &settings{note: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	sizes := f.String("sizes", "1k,10k,10k-full,100k", "corpora: `numbers` of records of 2 KB, with -full of 20 KB")
	large := f.Bool("large", false, "measure 1m too, which takes half an hour more and 10 GB of disk")
	names := f.String("workloads", "", "`names` such as W1,W4; empty for all")
	modes := f.String("modes", uncached+","+repeated, "`modes`: uncached asks for something else each time, repeated for few things")
	conns := f.String("concurrency", "1,8", "`numbers` of connections")
	length := f.Float64("seconds", 2, "length of one run in `seconds`")
	f.IntVar(&s.runs, "runs", 3, "`number` of runs, of which the median counts")
	f.IntVar(&s.requests, "requests", 256, "`number` of different requests of a workload")
	f.Uint64Var(&s.seed, "seed", 1, "of the records and requests")
	f.BoolVar(&markdown, "markdown", false, "print Markdown")
	if err := f.Parse(args); err != nil {
		return nil, false, flag.ErrHelp // it has been told
	}
	if f.NArg() > 0 || s.runs < 1 || s.requests < 1 || *length <= 0 {
		return nil, false, errors.New("numbers must be positive, and there are no arguments")
	}
	s.duration = time.Duration(*length * float64(time.Second))
	for _, size := range fields(*sizes) {
		c, err := parseCorpus(size, s.seed)
		if err != nil {
			return nil, false, err
		}
		s.corpora = append(s.corpora, c)
	}
	if *large {
		s.corpora = append(s.corpora, corpus{name: "1m", n: 1_000_000, seed: s.seed})
	}
	if s.workloads, err = workloadsNamed(fields(*names)); err != nil {
		return nil, false, err
	}
	for _, mode := range fields(*modes) {
		if mode != uncached && mode != repeated {
			return nil, false, fmt.Errorf("there is no mode %q", mode)
		}
		s.modes = append(s.modes, mode)
	}
	for _, text := range fields(*conns) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, false, fmt.Errorf("%q is no number of connections", text)
		}
		s.concurrency = append(s.concurrency, n)
	}
	return s, markdown, nil
}

// fields splits a list at its commas.
func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// buildSQLite builds SQLite's contestant, a module of its own, into dir and
// gives the program.
func buildSQLite(ctx context.Context, dir string, environment ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	module := strings.TrimSpace(string(out))
	if module == "" || module == os.DevNull {
		return "", errors.New("its module is looked for from inside the repository")
	}
	program := filepath.Join(dir, "sqlite")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-o", program, ".")
	cmd.Dir = filepath.Join(filepath.Dir(module), "internal", "bench", "sqlite")
	// SQLite's own advice for programs that want speed.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -DSQLITE_DEFAULT_MEMSTATUS=0")
	cmd.Env = append(cmd.Env, environment...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
	}
	return program, nil
}

// processor names the processor where the system tells.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}
