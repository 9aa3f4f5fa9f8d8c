package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// source gives the data source of a file: a write-ahead log, 1 GB mapped, a
// cache of 64 MB a connection.
func source(path string) string {
	q := url.Values{
		"_journal_mode": {"wal"},
		"_synchronous":  {"normal"},
		"_cache_size":   {"-65536"},
		"_mutex":        {"no"}, // database/sql lets one goroutine at a time use a connection
	}
	return "file:" + path + "?" + q.Encode()
}

// onOpen is run on each connection.
const onOpen = `PRAGMA mmap_size = 1073741824; PRAGMA temp_store = memory; PRAGMA query_only = 1`

// The statements. Each gives the whole answer but for W5, which the handler
// puts together from rows.
const (
	card = `json_object('caseId', i.case_id, 'date', i.date, 'title', json_object('text', i.title))`

	withTerms = `(SELECT json_group_array(json_object(
      'slug', t.slug,
      'incidents', json_object('nodes', json((
        SELECT json_group_array(` + card + `) FROM (
          SELECT i.case_id, i.date, i.title FROM posting p JOIN incident i ON i.id = p.incident
          WHERE p.term = t.id ORDER BY p.incident LIMIT 5) i)))))
    FROM (SELECT term.id, term.slug FROM tag JOIN term ON term.id = tag.term
          WHERE tag.incident = c.id AND tag.vocabulary = %d ORDER BY tag.position) t)`

	parentCard = `(SELECT ` + card + ` FROM incident i WHERE i.id = c.parent)`

	nested = `SELECT json_object('data', json_object('incident', json_object(
    'caseId', c.case_id,
    'date', c.date,
    'title', json_object('text', c.title),
    'severity', json_object('slug', c.severity),
    'rootCause', json_object('slug', c.root_cause),
    'org', json_object('slug', org.slug, 'name', org.name),
    'components', json(` + withTerms + `),
    'contributingFactors', json(` + withTerms + `),
    'related', json_object('nodes', json((
      SELECT json_group_array(` + card + `) FROM (
        SELECT i.case_id, i.date, i.title FROM link l JOIN incident i ON i.id = l.other
        WHERE l.incident = c.id ORDER BY l.other LIMIT 10) i))),
    'recurrenceOf', json(` + parentCard + `))))
  FROM incident c JOIN org ON org.id = c.org WHERE c.case_id = ?1`

	similar = `WITH
    here AS MATERIALIZED (SELECT id FROM incident WHERE case_id = ?1),
    mine AS MATERIALIZED (
      SELECT term.id AS term, term.slug, term.weight, term.incidents
      FROM here CROSS JOIN tag ON tag.incident = here.id AND tag.vocabulary = 0 JOIN term ON term.id = tag.term),
    total AS MATERIALIZED (SELECT sum(weight) AS weight FROM mine),
    best AS MATERIALIZED (
      SELECT row_number() OVER () AS rank, incident, score FROM (
        SELECT incident, CAST(shared AS REAL) / ((SELECT weight FROM total) + theirs - shared) AS score
        FROM (SELECT p.incident, sum(m.weight) AS shared, p.weight AS theirs, p.place
              FROM mine m CROSS JOIN posting p ON p.term = m.term
              WHERE p.incident <> (SELECT id FROM here) GROUP BY p.incident)
        ORDER BY score DESC, place LIMIT 10))
  SELECT json_object('data', json_object('incident', json_object('caseId', ?1, 'similar', json_object('edges', json((
    SELECT json_group_array(json_object(
      'rank', rank,
      'score', score,
      'node', ` + card + `,
      'explanation', json_object('shared', json((
        SELECT json_group_array(json_object('term', json_object('slug', slug), 'incidentCount', incidents)) FROM (
          SELECT m.slug, m.incidents FROM mine m
          WHERE EXISTS (SELECT 1 FROM posting p WHERE p.term = m.term AND p.incident = i.id)
          ORDER BY m.weight DESC, m.slug))))))
    FROM (SELECT * FROM best ORDER BY rank) b CROSS JOIN incident i ON i.id = b.incident))))))`

	chain = `WITH RECURSIVE
    up (id, parent) AS (
      SELECT id, parent FROM incident WHERE case_id = ?1
      UNION ALL SELECT i.id, i.parent FROM up CROSS JOIN incident i ON i.id = up.parent),
    down (id, parent, depth) AS MATERIALIZED (
      SELECT id, NULL, 0 FROM up WHERE parent IS NULL
      UNION ALL SELECT i.id, i.parent, depth + 1 FROM down CROSS JOIN incident i ON i.parent = down.id)
  SELECT json_object('data', json_object('incident', json_object('caseId', ?1, 'recurrenceChain', json_object(
    'size', (SELECT count(*) FROM down),
    'depth', (SELECT max(depth) FROM down),
    'root', json_object('caseId', (SELECT case_id FROM down CROSS JOIN incident USING (id) WHERE depth = 0)),
    'members', json_object('edges', json((
      SELECT json_group_array(json_object(
        'depth', depth,
        'gapDays', gap,
        'parent', CASE WHEN parent_id IS NULL THEN NULL ELSE json_object('caseId', parent_id) END,
        'node', ` + card + `))
      FROM (
        SELECT d.depth, i.day - p.day AS gap, p.case_id AS parent_id, i.case_id, i.date, i.title
        FROM down d CROSS JOIN incident i ON i.id = d.id LEFT JOIN incident p ON p.id = d.parent
        ORDER BY d.depth, i.date IS NULL, i.date, i.case_id LIMIT 50) i)))))))`

	both = `SELECT json_object('data', json_object('incidents', json_object(
    'totalCount', (
      SELECT count(*) FROM posting a CROSS JOIN posting b ON b.term = ?2 AND b.incident = a.incident WHERE a.term = ?1),
    'nodes', json((
      SELECT json_group_array(json_object(
        'caseId', case_id, 'date', date, 'title', json_object('text', title), 'org', json_object('slug', slug)))
      FROM (
        SELECT i.case_id, i.date, i.title, org.slug
        FROM posting a CROSS JOIN posting b ON b.term = ?2 AND b.incident = a.incident
          JOIN incident i ON i.id = a.incident JOIN org ON org.id = i.org
        WHERE a.term = ?1 ORDER BY a.incident LIMIT 20))))))`

	words = `SELECT json_object('data', json_object('incidents', json_object('nodes', json((
    SELECT json_group_array(` + card + `) FROM (
      SELECT i.case_id, i.date, i.title FROM text JOIN incident i ON i.id = text.rowid
      WHERE text MATCH ?1 ORDER BY text.rowid LIMIT 10) i)))))`

	setSums = `SELECT count(*), coalesce(sum(factors > 0), 0), coalesce(sum(factors), 0),
    coalesce(sum(components > 0), 0), coalesce(sum(components), 0)
  FROM incident WHERE root_cause = ?1 AND first_day >= ?2`

	setTerms = `SELECT term.slug, n, count(*) OVER () FROM (
    SELECT tag.term, count(*) AS n
    FROM incident i CROSS JOIN tag ON tag.incident = i.id AND tag.vocabulary = ?3
    WHERE i.root_cause = ?1 AND i.first_day >= ?2 GROUP BY tag.term) JOIN term ON term.id = term
  ORDER BY n DESC, term.slug LIMIT 20`

	setYears = `SELECT CAST(first_day AS INTEGER) AS year, count(*)
  FROM incident WHERE root_cause = ?1 AND first_day >= ?2 GROUP BY year ORDER BY year`
)

// server answers the workloads.
type server struct {
	db        *sql.DB
	terms     map[string]int // number of a factor or component, by vocabulary and slug
	incidents map[int]int    // of each term

	nested, similar, chain, both, words *sql.Stmt
	setSums, setTerms, setYears         *sql.Stmt
}

func open(ctx context.Context, path string) (*server, error) {
	db, err := sql.Open("sqlite3", source(path))
	if err != nil {
		return nil, err
	}
	// As many connections as can be at work; none is ever closed.
	n := runtime.GOMAXPROCS(0)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	if err := onEach(ctx, db, n, onOpen); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s := &server{db: db, terms: make(map[string]int), incidents: make(map[int]int)}
	if err := errors.Join(s.prepare(ctx), s.readTerms(ctx)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// onEach runs a statement on each of n connections.
func onEach(ctx context.Context, db *sql.DB, n int, statement string) error {
	for range n {
		c, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // only after all are there: it goes back to the pool
		if _, err := c.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) prepare(ctx context.Context) error {
	for _, x := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&s.nested, fmt.Sprintf(nested, component, factor)},
		{&s.similar, similar},
		{&s.chain, chain},
		{&s.both, both},
		{&s.words, words},
		{&s.setSums, setSums},
		{&s.setTerms, setTerms},
		{&s.setYears, setYears},
	} {
		var err error
		if *x.to, err = s.db.PrepareContext(ctx, x.text); err != nil {
			return fmt.Errorf("%w in %s", err, x.text)
		}
	}
	return nil
}

func (s *server) readTerms(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, "SELECT id, vocabulary, slug, incidents FROM term")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, vocabulary, n int
		var slug string
		if err := rows.Scan(&id, &vocabulary, &slug, &n); err != nil {
			return err
		}
		s.terms[strconv.Itoa(vocabulary)+slug], s.incidents[id] = id, n
	}
	return rows.Err()
}

// ServeHTTP answers /W1?caseId=… and its like.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The driver starts a goroutine for a context that can end.
	ctx := context.WithoutCancel(r.Context())
	v := r.URL.Query()
	var body []byte
	var err error
	switch r.URL.Path {
	case "/W1":
		err = s.nested.QueryRowContext(ctx, v.Get("caseId")).Scan(&body)
	case "/W2":
		err = s.similar.QueryRowContext(ctx, v.Get("caseId")).Scan(&body)
	case "/W3", "/W3L":
		err = s.chain.QueryRowContext(ctx, v.Get("caseId")).Scan(&body)
	case "/W4":
		a, b := s.terms[strconv.Itoa(factor)+v.Get("factor")], s.terms[strconv.Itoa(component)+v.Get("component")]
		if s.incidents[b] < s.incidents[a] { // go through the shorter list
			a, b = b, a
		}
		err = s.both.QueryRowContext(ctx, a, b).Scan(&body)
	case "/W5":
		since := v.Get("since")
		if len(since) < len("2015") {
			http.Error(w, "since is no date", http.StatusBadRequest)
			return
		}
		body, err = s.facets(ctx, v.Get("rootCause"), firstDayOf(since))
	case "/W6":
		err = s.words.QueryRowContext(ctx, quoted(v.Get("text"))).Scan(&body)
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error is the client's
}

// quoted writes words as a query for all of them, whatever they are.
func quoted(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		b.WriteString(`"` + strings.ReplaceAll(word, `"`, `""`) + `" `)
	}
	return b.String()
}

type (
	slug struct {
		Slug string `json:"slug"`
	}
	value struct {
		Term      slug    `json:"term"`
		Incidents int     `json:"incidents"`
		Share     float64 `json:"share"`
	}
	facet struct {
		Vocabulary    string  `json:"vocabulary"`
		Incidents     int     `json:"incidents"`
		Assignments   int     `json:"assignments"`
		Without       int     `json:"without"`
		OmittedValues int     `json:"omittedValues"`
		Values        []value `json:"values"`
	}
	year struct {
		Start     string `json:"start"`
		Incidents int    `json:"incidents"`
	}
	statistics struct {
		TotalCount int     `json:"totalCount"`
		Facets     []facet `json:"facets"`
		TimeSeries []year  `json:"timeSeries"`
	}
)

// facets answers W5.
func (s *server) facets(ctx context.Context, rootCause, since string) ([]byte, error) {
	var r statistics
	factors, components := facet{Vocabulary: "CONTRIBUTING_FACTOR"}, facet{Vocabulary: "COMPONENT"}
	err := s.setSums.QueryRowContext(ctx, rootCause, since).Scan(&r.TotalCount,
		&factors.Incidents, &factors.Assignments, &components.Incidents, &components.Assignments)
	if err != nil {
		return nil, err
	}
	r.Facets = []facet{factor: factors, component: components}
	for v := range r.Facets {
		r.Facets[v].Without = r.TotalCount - r.Facets[v].Incidents
		if err := s.values(ctx, &r.Facets[v], r.TotalCount, rootCause, since, v); err != nil {
			return nil, err
		}
	}
	if r.TimeSeries, err = s.years(ctx, rootCause, since); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"data": map[string]any{"incidents": r}})
}

func (s *server) values(ctx context.Context, f *facet, total int, rootCause, since string, vocabulary int) error {
	rows, err := s.setTerms.QueryContext(ctx, rootCause, since, vocabulary)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	all := 0
	f.Values = make([]value, 0, 20)
	for rows.Next() {
		var v value
		if err := rows.Scan(&v.Term.Slug, &v.Incidents, &all); err != nil {
			return err
		}
		v.Share = float64(v.Incidents) / float64(total)
		f.Values = append(f.Values, v)
	}
	f.OmittedValues = all - len(f.Values)
	return rows.Err()
}

// years counts by year; years between without incidents are there too.
func (s *server) years(ctx context.Context, rootCause, since string) ([]year, error) {
	rows, err := s.setYears.QueryContext(ctx, rootCause, since)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	list := []year{}
	next := 0
	for rows.Next() {
		var y, n int
		if err := rows.Scan(&y, &n); err != nil {
			return nil, err
		}
		for ; len(list) > 0 && next < y; next++ {
			list = append(list, year{Start: fmt.Sprintf("%04d", next)})
		}
		list = append(list, year{fmt.Sprintf("%04d", y), n})
		next = y + 1
	}
	return list, rows.Err()
}
