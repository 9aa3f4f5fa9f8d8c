package main

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"

	"incidentgraph/internal/fixture"
)

// corpus is a set of records that the fixture makes.
type corpus struct {
	name string
	n    int
	size fixture.Size
	seed uint64
}

// parseCorpus reads a number of records with k or m for thousand and million,
// and -full where they are of 20 KB rather than 2: 10k, 10k-full.
func parseCorpus(s string, seed uint64) (corpus, error) {
	number, full := strings.CutSuffix(s, "-full")
	factor := 1
	if digits, ok := strings.CutSuffix(number, "k"); ok {
		number, factor = digits, 1_000
	} else if digits, ok := strings.CutSuffix(number, "m"); ok {
		number, factor = digits, 1_000_000
	}
	n, err := strconv.Atoi(number)
	if err != nil || n > maxRecords || n*factor < minRecords || n*factor > maxRecords {
		return corpus{}, fmt.Errorf("%q is no size of a corpus: want a number from %d to %dm such as 500, 10k or 10k-full",
			s, minRecords, maxRecords/1_000_000)
	}
	c := corpus{name: s, n: n * factor, seed: seed}
	if full {
		c.size = fixture.Full
	}
	return c, nil
}

// A corpus of fewer records lacks what some workload asks for.
const (
	minRecords = 200
	maxRecords = 10_000_000
)

func (c corpus) records() iter.Seq[[]byte] { return fixture.Records(c.seed, c.n, c.size) }

// write writes the records as JSON Lines and gives the size of the file.
func (c corpus) write(path string) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // closed below where all went well
	w := bufio.NewWriterSize(f, 1<<20)
	for record := range c.records() {
		if _, err := w.Write(append(record, '\n')); err != nil {
			return 0, err
		}
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), f.Close()
}
