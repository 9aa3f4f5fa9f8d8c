package boltstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"incidentgraph/internal/store"
)

// maxFindings bounds what a check reports.
const maxFindings = 1000

// Check reads a whole file and reports all that is wrong with it: bbolt's own
// check, and the layout of this package, with every body against its SHA-256
// and every change against the chain of digests. No finding means that the
// file is sound. The error says why the check could not be made; a damaged
// file is no error. Nothing is written.
func Check(ctx context.Context, path string, o Options) ([]Finding, error) {
	o.ReadOnly = true
	file, err := lockFile(path, o)
	if err != nil {
		return nil, err
	}
	findings, err := inspectAll(ctx, path, file)
	if err != nil || len(findings) > 0 {
		return findings, errors.Join(err, file.Close())
	}
	s, err := openLocked(path, file, o, 0)
	if err != nil {
		return nil, err
	}
	return s.boltFindings(), s.Close()
}

// Check checks the open file as the function Check does. Appends wait until
// it is done.
func (s *Store) Check(ctx context.Context) ([]Finding, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.lockWriter(ctx); err != nil {
		return nil, err
	}
	defer s.unlockWriter()
	findings, err := inspectAll(ctx, s.path, s.file)
	if err != nil || len(findings) > 0 {
		return findings, err
	}
	return s.boltFindings(), nil
}

// inspectAll collects the findings of a full inspection.
func inspectAll(ctx context.Context, path string, file *os.File) ([]Finding, error) {
	var findings []Finding
	err := inspect(ctx, path, file, true, func(f Finding) bool {
		findings = append(findings, f)
		return len(findings) < maxFindings
	})
	if err == nil {
		err = ctx.Err()
	}
	return findings, err
}

// boltFindings runs bbolt's own check. It is only for files that have passed
// inspect: bbolt checks in a goroutine of its own, where a fault would end
// the process.
func (s *Store) boltFindings() []Finding {
	var findings []Finding
	at := &Finding{}
	err := s.view(at, func(tx *bolt.Tx) error {
		for err := range tx.Check() { // to the end: it would wait for a reader
			if len(findings) < maxFindings {
				findings = append(findings, Finding{Reason: err.Error()})
			}
		}
		return nil
	})
	if err != nil {
		findings = append(findings, Finding{Reason: err.Error()})
	}
	return findings
}

// inspect reads the structure of a file, and with full all of its content.
// Report takes each finding and tells whether to go on. The error tells that
// the file is no store of this format, or could not be read.
func inspect(ctx context.Context, path string, file *os.File, full bool, report func(Finding) bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%s: %w: it is empty; remove it to have a new store made", path, ErrNotStore)
	}
	pages, err := openPages(file, info.Size())
	if errors.Is(err, errNotBolt) {
		return fmt.Errorf("%s: %w: %w", path, ErrNotStore, err)
	}
	if err != nil { // a finding like others, though nothing can follow it
		report(Finding{Reason: err.Error()})
		return nil //nolint:nilerr // it was reported
	}
	in := &inspection{ctx: ctx, path: path, pages: pages, full: full, report: report, counts: map[string]uint64{}}
	pages.report = in.found
	if err := in.run(); !errors.Is(err, errStop) {
		return err
	}
	return nil
}

// inspection is one pass over a file.
type inspection struct {
	ctx    context.Context
	path   string
	pages  *pageFile
	full   bool
	report func(Finding) bool
	sound  bool // nothing was found so far

	buckets map[string]bucketRoot
	state   fileState
	counts  map[string]uint64
	last    store.Position // of the changes that were visited
	wanted  wanted         // full only
}

// found passes a finding on.
func (in *inspection) found(f Finding) bool {
	in.sound = false
	return in.report(f)
}

// fail reports a finding about a key.
func (in *inspection) fail(bucket string, key []byte, format string, args ...any) error {
	if in.found(Finding{Bucket: bucket, Key: key, Reason: fmt.Sprintf(format, args...)}) {
		return nil
	}
	return errStop
}

func (in *inspection) run() error {
	in.sound = true
	if err := in.readBuckets(); err != nil {
		return err
	}
	if err := in.readMeta(); err != nil {
		return err
	}
	in.last.Lineage = in.state.head.Lineage
	in.wanted = newWanted(in.state.horizon)
	// Changes come first: they say what the other buckets must hold.
	for _, name := range []string{bucketChanges, bucketRecords, bucketHistory, bucketRequests, bucketTombstones} {
		if err := in.walk(name); err != nil {
			return err
		}
	}
	for _, step := range []func() error{in.pages.checkFreelist, in.compareCounts, in.compareWanted} {
		if err := step(); err != nil {
			return err
		}
	}
	if in.full {
		return in.pages.checkLeaks()
	}
	return nil
}

// readBuckets finds the buckets, and refuses a file that is another's.
func (in *inspection) readBuckets() error {
	roots, err := in.pages.buckets()
	if err != nil {
		return err
	}
	in.buckets = map[string]bucketRoot{}
	for _, r := range roots {
		in.buckets[r.name] = r
	}
	names := slices.Sorted(maps.Keys(in.buckets))
	known := 0
	for _, name := range bucketNames() {
		if _, ok := in.buckets[name]; ok {
			known++
		}
	}
	if in.sound && known < len(bucketNames())/2 {
		return fmt.Errorf("%s: %w: it is a bbolt file of another program, with the buckets %.100q", in.path, ErrNotStore, strings.Join(names, ", "))
	}
	for _, name := range names {
		if !slices.Contains(bucketNames(), name) {
			if err := in.fail(name, nil, "bucket is not one of a store"); err != nil {
				return err
			}
		}
	}
	for _, name := range bucketNames() {
		if _, ok := in.buckets[name]; !ok {
			if err := in.fail(name, nil, "bucket is missing"); err != nil {
				return err
			}
		}
	}
	return nil
}

// readMeta reads bucket meta. It ends the inspection where the rest can't be
// judged without it.
func (in *inspection) readMeta() error {
	root, ok := in.buckets[bucketMeta]
	if !ok {
		return errStop
	}
	version, state := false, false
	err := in.pages.walkBucket(root, func(e element) error {
		value, err := e.value(e.size)
		if err != nil {
			return in.pages.failKey(e.page, e.key, "%v", err)
		}
		switch string(e.key) {
		case keyFormat:
			version = true
			return in.readFormat(e, value)
		case keyState:
			state = true
			if in.state, err = decodeState(value); err != nil {
				state = false
				return in.pages.failKey(e.page, e.key, "%v", err)
			}
			return nil
		}
		return in.pages.failKey(e.page, e.key, "key is not one of a store")
	})
	if err != nil {
		return err
	}
	if !version {
		err = in.fail(bucketMeta, []byte(keyFormat), "entry is missing")
	}
	if err == nil && !state {
		err = in.fail(bucketMeta, []byte(keyState), "entry is missing or damaged")
	}
	if err == nil && (!version || !state) {
		err = errStop
	}
	return err
}

// readFormat tells whether this package knows the file's format.
func (in *inspection) readFormat(e element, value []byte) error {
	version, err := decodeFormat(value)
	switch {
	case errors.Is(err, errForeign) && in.sound:
		return fmt.Errorf("%s: %w: it is a bbolt file of another program", in.path, ErrNotStore)
	case err != nil:
		return in.pages.failKey(e.page, e.key, "%v", err)
	case version != FormatVersion:
		return &FormatError{Path: in.path, Have: version, Want: FormatVersion}
	}
	return nil
}

// walk visits the entries of a bucket.
func (in *inspection) walk(name string) error {
	root, ok := in.buckets[name]
	if !ok {
		return nil
	}
	visit := map[string]func(element) error{
		bucketChanges:    in.change,
		bucketRecords:    in.record,
		bucketHistory:    in.record,
		bucketRequests:   in.request,
		bucketTombstones: in.tombstone,
	}[name]
	return in.pages.walkBucket(root, func(e element) error {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		in.counts[name]++
		if e.flags != 0 {
			return in.pages.failKey(e.page, e.key, "element has the flags %#x", e.flags)
		}
		if err := visit(e); err != nil {
			return in.pages.failKey(e.page, e.key, "%v", err)
		}
		return nil
	})
}

// change checks one entry of changes, and enters what it asks of the others.
func (in *inspection) change(e element) error {
	value, err := e.value(e.size)
	if err != nil {
		return err
	}
	sequence, err := decodeSequenceKey(e.key)
	if err != nil {
		return err
	}
	if sequence != in.last.Sequence+1 {
		return fmt.Errorf("change %d follows on change %d", sequence, in.last.Sequence)
	}
	if !in.full {
		in.last.Sequence = sequence
		in.last.Digest, err = decodeDigest(e.key, value)
		return err
	}
	entry, err := decodeChange(e.key, value)
	if err != nil {
		return err
	}
	next := in.last.Next(entry.encoding)
	in.last.Sequence, in.last.Digest = sequence, entry.digest
	if next.Digest != entry.digest {
		return errors.New("digest does not follow from the change before")
	}
	return in.wanted.add(sequence, entry)
}

// record checks one entry of records or history.
func (in *inspection) record(e element) error {
	n := min(e.size, int64(recordHeaderSize))
	if in.full {
		n = e.size
	}
	value, err := e.value(n)
	if err != nil {
		return err
	}
	bucket := e.page.bucket
	h, err := decodeRecordHeader(bucket, e.key, value, int(e.size))
	if err != nil {
		return err
	}
	id, version := string(e.key), h.version
	if bucket == bucketHistory {
		if id, version, err = decodeHistoryKey(e.key); err != nil {
			return err
		}
	}
	if version != h.version {
		return fmt.Errorf("record has version %d", h.version)
	}
	if !in.full {
		return nil
	}
	if _, _, err := decodeRecord(bucket, e.key, value); err != nil {
		return err
	}
	return in.wanted.takeRecord(bucket, id, h)
}

// request checks one entry of requests.
func (in *inspection) request(e element) error {
	value, err := e.value(e.size)
	if err != nil {
		return err
	}
	sequence, err := decodeRequest(e.key, value)
	if err != nil || !in.full {
		return err
	}
	return in.wanted.takeRequest(string(e.key), sequence)
}

// tombstone checks one entry of tombstones.
func (in *inspection) tombstone(e element) error {
	value, err := e.value(e.size)
	if err != nil {
		return err
	}
	version, sequence, err := decodeTombstone(e.key, value)
	if err != nil || !in.full {
		return err
	}
	return in.wanted.takeTombstone(string(e.key), version, sequence)
}

// compareCounts holds the entries that were visited against the state.
func (in *inspection) compareCounts() error {
	if in.sound && in.last != in.state.head {
		if err := in.fail(bucketChanges, nil, "last change leads to %v, head is %v", in.last, in.state.head); err != nil {
			return err
		}
	}
	if in.state.horizon > in.state.head.Sequence {
		if err := in.fail(bucketMeta, []byte(keyState), "horizon %d is past the head %v", in.state.horizon, in.state.head); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		bucket string
		want   uint64
	}{
		{bucketChanges, in.state.head.Sequence},
		{bucketRequests, in.state.head.Sequence},
		{bucketRecords, in.state.records},
		{bucketHistory, in.state.history},
		{bucketTombstones, in.state.tombstones},
	} {
		if got := in.counts[c.bucket]; got != c.want {
			if err := in.fail(c.bucket, nil, "%d entries, want %d", got, c.want); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareWanted reports what the changes ask for and no bucket holds. After
// other damage it would only repeat that.
func (in *inspection) compareWanted() error {
	if !in.full || !in.sound {
		return nil
	}
	for _, f := range in.wanted.missing() {
		if !in.found(f) {
			return errStop
		}
	}
	return nil
}
