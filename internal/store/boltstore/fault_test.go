package boltstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

// contents is all that a store can be asked for.
type contents struct {
	head    store.Position
	entries []store.Entry
	records []store.Record
}

// contentsOf reads a sound store.
func contentsOf(t *testing.T, log store.Log) contents {
	t.Helper()
	c := contents{head: head(t, log)}
	for e, err := range log.Follow(t.Context(), store.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		c.entries = append(c.entries, e)
	}
	snapshot, err := log.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range snapshot.Records() {
		if err != nil {
			t.Fatal(err)
		}
		c.records = append(c.records, r)
	}
	if err := snapshot.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// damageable makes a file with all that a file can have: trees of several
// levels, records over several pages, history, tombstones, free pages.
func damageable(t *testing.T) (file []byte, want contents) {
	t.Helper()
	path, replica := filled(t, 31, 40)
	s := open(t, path, boltstore.Options{})
	c := put("many", "m", "x")
	for i := range 400 {
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: fmt.Sprintf("many-%03d", i), Record: fmt.Append(nil, "record ", i)})
	}
	appendTo(t, s, c)
	appendTo(t, replica, c)
	closeStore(t, s)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file, contentsOf(t, replica)
}

// answers tells how a store that may be damaged compares with what it held.
type answers struct {
	refused bool // an error said that it is corrupt
	wrong   []string
}

func (a *answers) check(what string, err error, same bool) {
	switch {
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, boltstore.ErrNotStore), errors.Is(err, boltstore.ErrFormat):
		a.refused = true
	case err != nil:
		a.wrong = append(a.wrong, fmt.Sprintf("%s: unclear error %v", what, err))
	case !same:
		a.wrong = append(a.wrong, what+": wrong answer")
	}
}

// ask puts every question to a file: each answer must be right, or an error
// that says what is wrong.
func ask(t *testing.T, path string, want contents) (a answers) {
	t.Helper()
	s, err := boltstore.Open(path, boltstore.Options{})
	a.check("Open", err, true)
	if err != nil {
		return a
	}
	defer func() { a.check("Close", s.Close(), true) }()
	p, err := s.Head(t.Context())
	a.check("Head", err, p == want.head)
	a.askHistory(t, s, want)
	a.askSnapshot(t, s, want)
	// Supersede what may be damaged: the change is stored whole, or refused.
	c := put("after the damage", "IL-0000", "after")
	_, err = s.Append(t.Context(), want.head, c)
	a.check("Append", err, true)
	if err == nil {
		p, err = s.Request(t.Context(), c.RequestID)
		a.check("Request after Append", err, p.Sequence == want.head.Sequence+1)
	}
	return a
}

func (a *answers) askHistory(t *testing.T, s *boltstore.Store, want contents) {
	next, stop := iter.Pull2(s.Follow(t.Context(), store.Position{}))
	defer stop()
	for _, e := range want.entries {
		got, err, ok := next()
		a.check("Follow", err, ok && sameEntry(got, e))
		if err != nil {
			break
		}
	}
	for _, e := range want.entries {
		p, err := s.Request(t.Context(), e.Change.RequestID)
		a.check("Request", err, p == e.Position)
	}
}

func (a *answers) askSnapshot(t *testing.T, s *boltstore.Store, want contents) {
	snapshot, err := s.Snapshot(t.Context())
	a.check("Snapshot", err, true)
	if err != nil {
		return
	}
	defer func() { a.check("Snapshot.Close", snapshot.Close(), true) }()
	a.check("Len", nil, snapshot.Len() == len(want.records))
	for _, r := range want.records {
		got, err := snapshot.Get(r.ID)
		a.check("Get", err, sameRecord(got, r))
	}
	n := 0
	for got, err := range snapshot.Records() {
		a.check("Records", err, err != nil || n < len(want.records) && sameRecord(got, want.records[n]))
		if err != nil {
			return
		}
		n++
	}
	a.check("Records to the end", nil, n == len(want.records))
}

func sameRecord(a, b store.Record) bool {
	return a.ID == b.ID && a.Version == b.Version && a.Sequence == b.Sequence && a.Time.Equal(b.Time) && bytes.Equal(a.Bytes, b.Bytes)
}

func sameEntry(a, b store.Entry) bool {
	if a.Position != b.Position || !a.Change.Time.Equal(b.Change.Time) || a.Change.Actor != b.Change.Actor ||
		a.Change.RequestID != b.Change.RequestID || len(a.Change.Ops) != len(b.Change.Ops) {
		return false
	}
	for i, op := range a.Change.Ops {
		other := b.Change.Ops[i]
		if op.Kind != other.Kind || op.ID != other.ID || !bytes.Equal(op.Record, other.Record) {
			return false
		}
	}
	return true
}

// probe writes damaged content to a file and asks it everything. Check must
// know at least as much as the answers show.
func probe(t *testing.T, what, path string, file []byte, want contents) (refused bool) {
	t.Helper()
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	findings, err := boltstore.Check(t.Context(), path, boltstore.Options{})
	found := err != nil || len(findings) > 0
	if err != nil && !errors.Is(err, boltstore.ErrNotStore) && !errors.Is(err, boltstore.ErrFormat) && !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%s: Check() = %v, want a clear error", what, err)
	}
	a := ask(t, path, want)
	for _, w := range a.wrong {
		t.Errorf("%s: %s", what, w)
	}
	if a.refused && !found {
		t.Errorf("%s: Check() found nothing, yet some answer was refused", what)
	}
	return a.refused
}

// TestFlippedBytes damages one byte at a time, in every region of the file.
func TestFlippedBytes(t *testing.T) {
	file, want := damageable(t)
	path := filepath.Join(t.TempDir(), "damaged.db")
	const pageSize = 4096
	if os.Getpagesize() != pageSize {
		t.Skip("offsets are for pages of 4096 bytes")
	}
	random := rand.New(rand.NewPCG(32, 7))
	var offsets []int
	for page := range len(file) / pageSize {
		// Page headers, the first elements, and somewhere in the page.
		for range 2 {
			offsets = append(offsets, page*pageSize+random.IntN(16), page*pageSize+random.IntN(80), page*pageSize+random.IntN(pageSize))
		}
	}
	for at := range 2 * 80 {
		offsets = append(offsets, at/80*pageSize+at%80) // all of both meta pages
	}
	if testing.Short() {
		random.Shuffle(len(offsets), func(i, j int) { offsets[i], offsets[j] = offsets[j], offsets[i] })
		offsets = offsets[:len(offsets)/10]
	}
	refused := 0
	for _, at := range offsets {
		b := bytes.Clone(file)
		b[at] ^= byte(1 + random.IntN(255))
		noticed := probe(t, fmt.Sprintf("byte %d of page %d: %#x for %#x", at%pageSize, at/pageSize, b[at], file[at]), path, b, want)
		if noticed {
			refused++
		}
		// Both meta pages count: without one bbolt goes back a commit.
		if meta := at/pageSize < 2 && at%pageSize >= 16 && at%pageSize < 80; meta && !noticed {
			t.Errorf("byte %d of meta page %d: damage went unnoticed", at%pageSize, at/pageSize)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d flips in %d pages: %d noticed, the others changed no answer", len(offsets), len(file)/pageSize, refused)
	if refused < len(offsets)/10 {
		t.Errorf("%d of %d flips noticed: the test misses what it is for", refused, len(offsets))
	}
}

// TestOverwrittenPages damages whole pages: with zeros, with noise, and with
// another page of the file.
func TestOverwrittenPages(t *testing.T) {
	file, want := damageable(t)
	path := filepath.Join(t.TempDir(), "damaged.db")
	const pageSize = 4096
	random := rand.New(rand.NewPCG(33, 8))
	pages := len(file) / pageSize
	for page := range pages {
		if testing.Short() && page%10 != 0 {
			continue
		}
		noise := make([]byte, pageSize)
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		other := random.IntN(pages)
		for name, with := range map[string][]byte{
			"zeros":                        make([]byte, pageSize),
			"noise":                        noise,
			fmt.Sprintf("page %d", other):  file[other*pageSize : (other+1)*pageSize],
			"its neighbor's header":        file[(page+1)%pages*pageSize:][:16],
			"numbers of 64 bits, all ones": bytes.Repeat([]byte{0xff}, 64),
		} {
			b := bytes.Clone(file)
			copy(b[page*pageSize:], with)
			probe(t, fmt.Sprintf("page %d overwritten with %s", page, name), path, b, want)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestTruncated cuts the file off at each page, and off the pages.
func TestTruncated(t *testing.T) {
	file, want := damageable(t)
	path := filepath.Join(t.TempDir(), "damaged.db")
	random := rand.New(rand.NewPCG(34, 9))
	refused := 0
	for size := 0; size < len(file); size += 4096 {
		for _, n := range []int{size, size + random.IntN(4096)} {
			if probe(t, fmt.Sprintf("file of %d bytes", n), path, file[:n], want) {
				refused++
			}
		}
	}
	if refused < 20 {
		t.Errorf("%d sizes noticed: the test misses what it is for", refused)
	}
}

// TestTruncatedWhileOpen cuts the file off under a running store. Reading what
// is gone faults in the memory map.
func TestTruncatedWhileOpen(t *testing.T) {
	for _, size := range []int64{0, 4096, 8192, 16384} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			file, want := damageable(t)
			path := filepath.Join(t.TempDir(), "store.db")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, boltstore.Options{})
			snapshot, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatalf("Snapshot() = %v", err)
			}
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			corrupt := 0
			for _, r := range want.records {
				if _, err := snapshot.Get(r.ID); errors.Is(err, store.ErrCorrupt) {
					corrupt++
				} else if err != nil {
					t.Errorf("Get(%q) = %v, want %v", r.ID, err, store.ErrCorrupt)
				}
			}
			if corrupt == 0 {
				t.Errorf("no Get() = %v", store.ErrCorrupt)
			}
			for _, err := range s.Follow(t.Context(), store.Position{}) {
				if err != nil && !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("Follow() = %v, want %v", err, store.ErrCorrupt)
				}
			}
			if _, err := s.Append(t.Context(), want.head, put("r", "IL-0000", "x")); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("Append() = %v, want %v", err, store.ErrCorrupt)
			}
			if _, err := s.Append(t.Context(), want.head, put("s", "IL-0000", "x")); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("second Append() = %v, want %v", err, store.ErrCorrupt)
			}
			_ = snapshot.Close() // may say so too
			if err := s.Close(); err != nil && !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("Close() = %v", err)
			}
			// The lock is free again although bbolt was not closed in order.
			if _, err := boltstore.Open(path, boltstore.Options{}); errors.Is(err, boltstore.ErrLocked) || err == nil {
				t.Errorf("Open() afterwards = %v, want an error other than %v", err, boltstore.ErrLocked)
			}
		})
	}
}

func TestNotAStore(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bbolt := func(name string, buckets ...string) string {
		path := filepath.Join(folder, name)
		editBolt(t, path, func(tx *bolt.Tx) error {
			for _, b := range buckets {
				if _, err := tx.CreateBucket([]byte(b)); err != nil {
					return err
				}
			}
			return nil
		})
		return path
	}
	for _, test := range []struct {
		path, says string
		want       error
	}{
		{folder, "directory", boltstore.ErrNotStore},
		{os.DevNull, "regular file", boltstore.ErrNotStore},
		{write("empty", ""), "empty", boltstore.ErrNotStore},
		{write("text", `{"id":"IL-0282"}`), "not a bbolt file", boltstore.ErrNotStore},
		{write("long text", strings.Repeat(`{"id":"IL-0282"}`, 4000)), "not a bbolt file", boltstore.ErrNotStore},
		{bbolt("no buckets"), "another program", boltstore.ErrNotStore},
		{bbolt("other", "users", "sessions"), `sessions, users`, boltstore.ErrNotStore},
		{bbolt("meta", "meta", "records", "history", "changes"), "missing", store.ErrCorrupt},
	} {
		for _, readOnly := range []bool{true, false} {
			_, err := boltstore.Open(test.path, boltstore.Options{ReadOnly: readOnly})
			if !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), test.says) {
				t.Errorf("Open(%s, ReadOnly: %v) = %v, want %v and %q", filepath.Base(test.path), readOnly, err, test.want, test.says)
			}
		}
		if _, err := boltstore.Compact(t.Context(), test.path, ""); err == nil {
			t.Errorf("Compact(%s) = nil, want an error", filepath.Base(test.path))
		}
	}
}

// editBolt changes a file behind the store's back.
func editBolt(t *testing.T, path string, edit func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(edit), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestFilesOfBoltAreRead: page sizes and freelists that other programs choose
// are fine.
func TestFilesOfBoltAreRead(t *testing.T) {
	path, replica := filled(t, 35, 30)
	for _, o := range []bolt.Options{{NoFreelistSync: true}, {}} {
		db, err := bolt.Open(path, 0o600, &o)
		if err != nil {
			t.Fatal(err)
		}
		// A commit that changes nothing, to have the freelist written or not.
		if err := errors.Join(db.Update(func(*bolt.Tx) error { return nil }), db.Close()); err != nil {
			t.Fatal(err)
		}
		checkSound(t, path)
		s := open(t, path, boltstore.Options{})
		storetest.Equal(t, s, replica)
		closeStore(t, s)
	}

	other := filepath.Join(t.TempDir(), "pages.db")
	src, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := bolt.Open(other, 0o600, &bolt.Options{PageSize: 16384})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(bolt.Compact(dst, src, 0), dst.Close(), src.Close()); err != nil {
		t.Fatal(err)
	}
	checkSound(t, other)
	s := open(t, other, boltstore.Options{})
	defer closeStore(t, s)
	appendTo(t, s, put("one more", "a", "x"))
	appendTo(t, replica, put("one more", "a", "x"))
	storetest.Equal(t, s, replica)
}
