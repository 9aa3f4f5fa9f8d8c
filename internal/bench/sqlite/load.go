package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

const tables = `
CREATE TABLE incident (
  id         INTEGER PRIMARY KEY,  -- place in the order of lists: latest first, without a date last, then by case id
  case_id    TEXT NOT NULL UNIQUE,
  date       TEXT,                 -- as recorded: 2015, 2015-09 or 2015-09-20
  first_day  TEXT,                 -- of the date
  day        INTEGER,              -- number of the day, where the date is one
  title      TEXT NOT NULL,
  org        INTEGER NOT NULL REFERENCES org,
  severity   TEXT NOT NULL,
  root_cause TEXT NOT NULL,
  factors    INTEGER NOT NULL,     -- how many
  components INTEGER NOT NULL,
  parent     INTEGER               -- the case that it repeats
);
CREATE TABLE record (incident INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE org (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE term (
  id         INTEGER PRIMARY KEY,
  vocabulary INTEGER NOT NULL,
  slug       TEXT NOT NULL,
  incidents  INTEGER NOT NULL,
  weight     INTEGER NOT NULL,     -- idf in units of 2^-40, so that sums are exact
  UNIQUE (vocabulary, slug)
);
CREATE TABLE tag (                 -- the terms of an incident, in record order
  incident INTEGER, vocabulary INTEGER, position INTEGER, term INTEGER,
  PRIMARY KEY (incident, vocabulary, position)
) WITHOUT ROWID;
CREATE TABLE posting (             -- the incidents of a term, latest first
  term INTEGER, incident INTEGER,
  weight INTEGER,                  -- of all factors of the incident
  place INTEGER,                   -- in the order of case ids
  PRIMARY KEY (term, incident)
) WITHOUT ROWID;
CREATE TABLE link (incident INTEGER, other INTEGER, PRIMARY KEY (incident, other)) WITHOUT ROWID;
CREATE VIRTUAL TABLE text USING fts5 (words, content = '', detail = none, tokenize = 'porter unicode61');
`

const indexes = `
CREATE INDEX incident_parent ON incident (parent);
CREATE INDEX incident_cause ON incident (root_cause, first_day, factors, components);
ANALYZE;
`

// The vocabularies that tags are of.
const (
	factor    = 0
	component = 1
)

// record is what the workloads ask for of a record.
type record struct {
	ID           string            `json:"id"`
	Org          string            `json:"org"`
	OrgSlug      string            `json:"org_slug"`
	Date         string            `json:"date"`
	Title        map[string]string `json:"title"`
	Severity     string            `json:"severity"`
	RootCause    string            `json:"root_cause"`
	Contributing []string          `json:"contributing"`
	Components   []string          `json:"components"`
	Related      []string          `json:"related"`
	RecurrenceOf string            `json:"recurrence_of"`

	offset, length int64 // in the corpus
	id             int
}

// loader makes a database.
type loader struct {
	corpus  *os.File
	records []*record
	byID    map[string]*record
	place   map[string]int // in the order of case ids
	terms   map[[2]any]*term
	ordered []*term
	tx      *sql.Tx
	text    time.Duration // what the text index took
}

type term struct {
	id, vocabulary int
	slug           string
	incidents      []*record
	weight         int64
}

// loaded tells what it took to make a database.
type loaded struct {
	Took      time.Duration `json:"took"`
	Text      time.Duration `json:"text"` // of that, the text index alone
	PeakBytes int64         `json:"peakBytes"`
}

func load(ctx context.Context, corpus, path string) (made loaded, err error) {
	began := time.Now()
	f, err := os.Open(corpus)
	if err != nil {
		return made, err
	}
	defer func() { _ = f.Close() }()
	l := &loader{corpus: f, byID: make(map[string]*record), terms: make(map[[2]any]*term)}
	if err := l.read(); err != nil {
		return made, err
	}
	l.number()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return made, err
	}
	db, err := sql.Open("sqlite3", source(path))
	if err != nil {
		return made, err
	}
	defer func() {
		err = errors.Join(err, db.Close())
		made = loaded{time.Since(began), l.text, peakMemory()}
	}()
	db.SetMaxOpenConns(1)
	if l.tx, err = db.BeginTx(ctx, nil); err != nil {
		return made, err
	}
	if err := l.fill(ctx); err != nil {
		return made, errors.Join(err, l.tx.Rollback())
	}
	if err := l.tx.Commit(); err != nil {
		return made, err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return made, err
}

// read takes in what is needed of each record, and where it lies.
func (l *loader) read() error {
	in := bufio.NewReaderSize(l.corpus, 1<<20)
	for offset := int64(0); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			r := &record{offset: offset, length: int64(len(line))}
			if err := json.Unmarshal(line, r); err != nil {
				return fmt.Errorf("record at %d: %w", offset, err)
			}
			offset += int64(len(line))
			l.records = append(l.records, r)
			l.byID[r.ID] = r
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// number gives the records and terms their numbers, and the factors their
// weights.
func (l *loader) number() {
	slices.SortFunc(l.records, func(a, b *record) int { return strings.Compare(a.ID, b.ID) })
	l.place = make(map[string]int, len(l.records))
	for i, r := range l.records {
		l.place[r.ID] = i
	}
	// Dates of any precision sort as text; no date is the smallest.
	slices.SortStableFunc(l.records, func(a, b *record) int { return strings.Compare(b.Date, a.Date) })
	for i, r := range l.records {
		r.id = i + 1
		for v, slugs := range [][]string{factor: r.Contributing, component: r.Components} {
			for _, slug := range slugs {
				key := [2]any{v, slug}
				t := l.terms[key]
				if t == nil {
					t = &term{id: len(l.ordered) + 1, vocabulary: v, slug: slug}
					l.terms[key] = t
					l.ordered = append(l.ordered, t)
				}
				t.incidents = append(t.incidents, r)
			}
		}
	}
	for _, t := range l.ordered {
		total, n := float64(len(l.records)), float64(len(t.incidents))
		t.weight = int64(math.Round(math.Log1p((total-n+0.5)/(n+0.5)) * (1 << 40)))
	}
}

// fill makes the tables and fills them.
func (l *loader) fill(ctx context.Context) error {
	if _, err := l.tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{l.fillIncidents, l.fillTerms, l.fillLinks, l.fillRecords, l.fillText} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	_, err := l.tx.ExecContext(ctx, indexes)
	return err
}

// insert runs a statement for what rows yields.
func (l *loader) insert(ctx context.Context, statement string, rows func(insert func(values ...any) error) error) error {
	s, err := l.tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return rows(func(values ...any) error {
		_, err := s.ExecContext(ctx, values...)
		return err
	})
}

func (l *loader) fillIncidents(ctx context.Context) error {
	orgs := make(map[string]int)
	spelled := make(map[string]map[string]int)
	for _, r := range l.records {
		if orgs[r.OrgSlug] == 0 {
			orgs[r.OrgSlug] = len(orgs) + 1
			spelled[r.OrgSlug] = make(map[string]int)
		}
		spelled[r.OrgSlug][r.Org]++
	}
	err := l.insert(ctx, "INSERT INTO org VALUES (?, ?, ?)", func(insert func(...any) error) error {
		for slug, id := range orgs {
			if err := insert(id, slug, mostUsed(spelled[slug])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.insert(ctx, "INSERT INTO incident VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", func(insert func(...any) error) error {
		for _, r := range l.records {
			var date, firstDay, day, parent any
			if r.Date != "" {
				date, firstDay = r.Date, firstDayOf(r.Date)
			}
			if t, err := time.Parse(time.DateOnly, r.Date); err == nil {
				day = t.Unix() / (24 * 60 * 60)
			}
			if p := l.byID[r.RecurrenceOf]; p != nil {
				parent = p.id
			}
			if err := insert(r.id, r.ID, date, firstDay, day, r.Title["en"], orgs[r.OrgSlug], r.Severity, r.RootCause,
				len(r.Contributing), len(r.Components), parent); err != nil {
				return err
			}
		}
		return nil
	})
}

// mostUsed gives the spelling used most, the first in the alphabet of several.
func mostUsed(spellings map[string]int) string {
	best := ""
	for name, n := range spellings {
		if n > spellings[best] || n == spellings[best] && name < best {
			best = name
		}
	}
	return best
}

// firstDayOf gives the first day of a date of any precision.
func firstDayOf(date string) string { return date + "-01-01"[min(len(date)-4, 6):] }

func (l *loader) fillTerms(ctx context.Context) error {
	weights := make(map[*record]int64, len(l.records))
	err := l.insert(ctx, "INSERT INTO term VALUES (?, ?, ?, ?, ?)", func(insert func(...any) error) error {
		for _, t := range l.ordered {
			if t.vocabulary == factor {
				for _, r := range t.incidents {
					weights[r] += t.weight
				}
			}
			if err := insert(t.id, t.vocabulary, t.slug, len(t.incidents), t.weight); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = l.insert(ctx, "INSERT INTO tag VALUES (?, ?, ?, ?)", func(insert func(...any) error) error {
		for _, r := range l.records {
			for v, slugs := range [][]string{factor: r.Contributing, component: r.Components} {
				for i, slug := range slugs {
					if err := insert(r.id, v, i, l.terms[[2]any{v, slug}].id); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.insert(ctx, "INSERT INTO posting VALUES (?, ?, ?, ?)", func(insert func(...any) error) error {
		for _, t := range l.ordered {
			for _, r := range t.incidents {
				if err := insert(t.id, r.id, weights[r], l.place[r.ID]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// fillLinks joins related incidents in both directions.
func (l *loader) fillLinks(ctx context.Context) error {
	var pairs [][2]int
	for _, r := range l.records {
		for _, id := range r.Related {
			if other := l.byID[id]; other != nil {
				pairs = append(pairs, [2]int{r.id, other.id}, [2]int{other.id, r.id})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return l.insert(ctx, "INSERT INTO link VALUES (?, ?)", func(insert func(...any) error) error {
		for _, p := range slices.Compact(pairs) {
			if err := insert(p[0], p[1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// whole reads a record again.
func (l *loader) whole(r *record) ([]byte, error) {
	raw := make([]byte, r.length)
	_, err := l.corpus.ReadAt(raw, r.offset)
	return bytes.TrimSpace(raw), err
}

func (l *loader) fillRecords(ctx context.Context) error {
	return l.insert(ctx, "INSERT INTO record VALUES (?, ?)", func(insert func(...any) error) error {
		for _, r := range l.records {
			raw, err := l.whole(r)
			if err != nil {
				return err
			}
			if err := insert(r.id, string(raw)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *loader) fillText(ctx context.Context) error {
	began := time.Now()
	defer func() { l.text = time.Since(began) }()
	err := l.insert(ctx, "INSERT INTO text (rowid, words) VALUES (?, ?)", func(insert func(...any) error) error {
		for _, r := range l.records {
			raw, err := l.whole(r)
			if err != nil {
				return err
			}
			var members map[string]any
			if err := json.Unmarshal(raw, &members); err != nil {
				return err
			}
			var b strings.Builder
			for _, name := range searched {
				texts(&b, members[name])
			}
			if err := insert(r.id, b.String()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = l.tx.ExecContext(ctx, "INSERT INTO text (text) VALUES ('optimize')")
	return err
}

// searched are the members that a word search looks into.
var searched = []string{
	"id", "title", "summary", "symptoms_text", "trigger", "detection", "lessons", "impact", "remediation", "action_items",
	"org", "contributing", "components", "symptoms", "root_cause", "domain", "severity",
}

// texts writes every string in a JSON value.
func texts(b *strings.Builder, value any) {
	switch v := value.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, x := range v {
			texts(b, x)
		}
	case map[string]any:
		for _, x := range v {
			texts(b, x)
		}
	}
}
