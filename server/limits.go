package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/urfave/cli/v3"

	"incidentgraph/graph"
)

// limitFlag is the flag of one of graph.Limits.
type limitFlag struct {
	name, usage string
	of          func(*graph.Limits) *int
}

// limitFlags lists the flags of all limits but the timeout.
func limitFlags() []limitFlag {
	return []limitFlag{
		{"max-body-bytes", "how many bytes the body of a request, or its query string, may have", func(l *graph.Limits) *int { return &l.MaxBodyBytes }},
		{"max-document-bytes", "how many bytes a document may have", func(l *graph.Limits) *int { return &l.MaxDocumentBytes }},
		{"max-tokens", "how many lexical tokens a document may have", func(l *graph.Limits) *int { return &l.MaxTokens }},
		{"max-fields", "how many fields an operation may select, fragments followed", func(l *graph.Limits) *int { return &l.MaxFields }},
		{"max-root-fields", "how many fields an operation may select at its root", func(l *graph.Limits) *int { return &l.MaxRootFields }},
		{"max-aliases", "how many fields may have an alias", func(l *graph.Limits) *int { return &l.MaxAliases }},
		{"max-depth", "how deep fields may be nested", func(l *graph.Limits) *int { return &l.MaxDepth }},
		{"max-cost", "what an operation may cost: 1 a field, times the sizes of the lists that it is in", func(l *graph.Limits) *int { return &l.MaxCost }},
		{"max-page-size", "how many elements a page may have", func(l *graph.Limits) *int { return &l.MaxPageSize }},
		{"max-hops", "how many links a filter may follow one after another, and how many steps a path may have", func(l *graph.Limits) *int { return &l.MaxHops }},
		{"max-nodes", "how many ids may be looked up at once, and how many nodes a subgraph may have", func(l *graph.Limits) *int { return &l.MaxNodes }},
		{"max-response-bytes", "how many bytes the data of an answer may have", func(l *graph.Limits) *int { return &l.MaxResponseBytes }},
		{"max-concurrent", "how many operations may run at a time; more get the status 503 with Retry-After", func(l *graph.Limits) *int { return &l.MaxConcurrent }},
	}
}

// The category of a flag is its heading in the help.
const (
	categoryLimits  = "Limits (none can be switched off)"
	categoryNetwork = "Network"
	categoryReports = "Logs and metrics"
	categoryTrust   = "Trusted documents"
)

// limitsFlags makes flags of all limits.
func limitsFlags() []cli.Flag {
	limits := graph.DefaultLimits()
	var flags []cli.Flag
	for _, l := range limitFlags() {
		f := intFlag(l.name, *l.of(&limits), l.usage)
		f.Category = categoryLimits
		flags = append(flags, f)
	}
	timeout := durationFlag("timeout", limits.Timeout, "how long an operation may take, and the body of its request to arrive")
	timeout.Category = categoryLimits
	return append(flags, timeout)
}

// limitsOf reads the limits that the flags give.
func limitsOf(cmd *cli.Command) graph.Limits {
	var limits graph.Limits
	for _, l := range limitFlags() {
		*l.of(&limits) = cmd.Int(l.name)
	}
	limits.Timeout = cmd.Duration("timeout")
	return limits
}

// intFlag takes a positive number.
func intFlag(name string, value int, usage string) *cli.IntFlag {
	return &cli.IntFlag{Name: name, Value: value, Usage: usage, Sources: env(name), Local: true, Validator: func(n int) error {
		if n <= 0 || n > math.MaxInt32 { // the Int of GraphQL, in which service.limits tells it
			return fmt.Errorf("want 1 to %d", math.MaxInt32)
		}
		return nil
	}}
}

// responseCacheFlag takes the size of the response cache.
func responseCacheFlag() *cli.IntFlag {
	f := intFlag("response-cache", graph.DefaultResponseCacheBytes, "how many `BYTES` of answers to keep for equal requests at the same revision; 0 keeps none")
	f.Validator = func(n int) error {
		if n < 0 {
			return errors.New("want 0 or more bytes")
		}
		return nil
	}
	return f
}

// durationFlag takes a positive time.
func durationFlag(name string, value time.Duration, usage string) *cli.DurationFlag {
	return &cli.DurationFlag{Name: name, Value: value, Usage: usage, Sources: env(name), Local: true, Validator: func(d time.Duration) error {
		if d <= 0 {
			return errors.New("want a positive time, such as 10s")
		}
		return nil
	}}
}
