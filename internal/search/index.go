package search

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	"golang.org/x/text/unicode/norm"

	"incidentgraph/internal/incident"
)

// formatVersion is the version of the index's content. It grows with every
// change of the chain of analysis, of the fields or of what they hold.
const formatVersion = 1

// Errors of this package.
var (
	// ErrLocked says that another process has the index open.
	ErrLocked = errors.New("the search index is open elsewhere")
	// ErrForeign says that the folder holds files that are not an index's,
	// so that it cannot be emptied.
	ErrForeign = errors.New("the folder holds files that are not of a search index")
	// ErrCorrupt says that the index has bytes that it cannot have written.
	// Reset makes it usable again.
	ErrCorrupt = errors.New("the search index is damaged")
	// ErrClosed says that the index was closed.
	ErrClosed = errors.New("the search index is closed")
)

// Found tells what Open met.
type Found uint8

// What Open can meet. Except with FoundIndex the index is empty, its position
// nil, and everything has to be put in again.
const (
	// FoundNothing: the folder was missing or empty.
	FoundNothing Found = iota
	// FoundIndex: an index of this version.
	FoundIndex
	// FoundOtherVersion: an index of another format, of other Unicode tables
	// or of another vocabulary. It was removed.
	FoundOtherVersion
	// FoundUnreadable: an index that is damaged. It was removed.
	FoundUnreadable
)

// String gives the name in words.
func (f Found) String() string {
	return [...]string{"nothing", "an index", "an index of another version", "an unreadable index"}[f]
}

// Index is a full-text index over incidents, orgs and terms. It is safe for
// concurrent use; commits wait for each other.
type Index struct {
	dir      string // "" in memory
	concepts *incident.Concepts
	found    Found
	version  string
	pool     analyzers
	recent   recentChanges

	// life is held for reading by whoever uses engine, for writing by Close
	// and Reset.
	life   sync.RWMutex
	engine *scorch.Scorch // nil once closed
	queue  *index.AnalysisQueue
	// generation counts the engines that there were; it changes with engine.
	generation uint64

	// writing is held by a commit. It is taken before life.
	writing sync.Mutex
	// commits is the number of the last commit; guarded by writing, once the
	// index is open.
	commits uint64
}

// Open opens the index in a folder, which it makes where it is missing. An
// index of another version or of another vocabulary, or one that cannot be
// read, is removed and an empty one is made in its place; Found tells. The
// error is ErrLocked, ErrForeign or one of the file system.
func Open(dir string, concepts *incident.Concepts) (*Index, error) {
	ix := &Index{dir: filepath.Clean(dir), concepts: concepts, version: versionOf(concepts)}
	if err := ix.open(); err != nil {
		return nil, fmt.Errorf("search: open %s: %w", dir, err)
	}
	return ix, nil
}

// OpenMemory makes an empty index in memory.
func OpenMemory(concepts *incident.Concepts) (*Index, error) {
	ix := &Index{concepts: concepts, version: versionOf(concepts)}
	if err := ix.create(); err != nil {
		return nil, fmt.Errorf("search: open in memory: %w", err)
	}
	return ix, nil
}

// versionOf tells apart indexes that would answer differently.
func versionOf(concepts *incident.Concepts) string {
	hash := sha256.New()
	for _, c := range concepts.All() {
		fmt.Fprintf(hash, "%d %q", c.Term.Vocabulary, c.Term.Slug)
		for _, l := range c.PrefLabel {
			fmt.Fprintf(hash, " %q %q", l.Language, l.Text)
		}
	}
	return fmt.Sprintf("%d unicode %s norm %s vocabulary %x", formatVersion, unicode.Version, norm.Version, hash.Sum(nil)[:16])
}

// open opens what is in the folder or makes the index anew.
func (ix *Index) open() error {
	files, err := ix.files()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return ix.create()
	}
	var system *fs.PathError // the folder's rights, too many open files
	switch err := ix.start(); {
	case errors.Is(err, ErrLocked), errors.As(err, &system):
		return err
	case err != nil:
		ix.found = FoundUnreadable
	default:
		switch version := string(ix.internal(versionKey)); version {
		case ix.version:
			ix.found = FoundIndex
			return ix.countCommits()
		case "": // the engine drops what it cannot load, and says nothing
			ix.found = FoundUnreadable
		default:
			ix.found = FoundOtherVersion
		}
	}
	_ = ix.stop() // about files that go now
	if err := ix.remove(); err != nil {
		return err
	}
	return ix.create()
}

// create makes an index that holds the vocabulary only.
func (ix *Index) create() error {
	if err := ix.start(); err != nil {
		return err
	}
	batch := index.NewBatch()
	for _, f := range labelForms(ix.concepts) {
		batch.Update(newFormDocument(f, &ix.pool))
	}
	batch.SetInternal(versionKey, []byte(ix.version))
	ix.commits++
	ix.recent.forget() // what was there before is gone
	batch.SetInternal(commitsKey, binary.BigEndian.AppendUint64(nil, ix.commits))
	if err := ix.engine.Batch(batch); err != nil {
		_ = ix.stop() // the first error says why
		return err
	}
	return nil
}

// The engine's own keys for what is stored beside the documents, in one
// transaction with them.
var (
	versionKey  = []byte("version")
	positionKey = []byte("position")
	commitsKey  = []byte("commits")
)

// start starts the engine. Reading damaged files it may panic.
func (ix *Index) start() (err error) {
	queue := index.NewAnalysisQueue(runtime.GOMAXPROCS(0))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, r)
		}
		if err != nil {
			queue.Close()
		}
	}()
	engine, err := scorch.NewScorch(scorch.Name, map[string]any{"path": ix.dir, "bolt_timeout": "100ms"}, queue)
	if err != nil {
		return err
	}
	if err := engine.Open(); err != nil {
		if err.Error() == "timeout" { // of the file lock; the error's package is not ours to import
			return ErrLocked
		}
		return err
	}
	ix.engine, ix.queue = engine.(*scorch.Scorch), queue
	ix.generation++
	return nil
}

// stop ends the engine.
func (ix *Index) stop() error {
	if ix.engine == nil {
		return nil
	}
	err := ix.engine.Close()
	ix.queue.Close()
	ix.engine = nil
	return err
}

// files lists the files of the index in its folder.
func (ix *Index) files() ([]string, error) {
	entries, err := os.ReadDir(ix.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || name != "root.bolt" && !strings.HasSuffix(name, ".zap") {
			return nil, fmt.Errorf("%w: %s", ErrForeign, name)
		}
		names = append(names, name)
	}
	return names, nil
}

// remove removes the files of the index, the one that names the others first.
func (ix *Index) remove() error {
	if ix.dir == "" {
		return nil
	}
	names, err := ix.files()
	if err != nil {
		return err
	}
	slices.Sort(names)
	slices.Reverse(names)
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(filepath.Ext(a), filepath.Ext(b)) })
	for _, name := range names {
		if err := os.Remove(filepath.Join(ix.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Found tells what Open met; FoundNothing for an index in memory.
func (ix *Index) Found() Found { return ix.found }

// Position gives the position of the last commit, nil where there was none
// since the index was made.
func (ix *Index) Position() []byte {
	ix.life.RLock()
	defer ix.life.RUnlock()
	if ix.engine == nil {
		return nil
	}
	return slices.Clone(ix.internal(positionKey))
}

func (ix *Index) internal(key []byte) []byte {
	v, err := ix.snapshot()
	if err != nil {
		return nil
	}
	defer v.close()
	return v.Internal()[string(key)]
}

// countCommits goes on counting where the index on disk has come to.
func (ix *Index) countCommits() error {
	v, err := ix.snapshot()
	if err != nil {
		return err
	}
	defer v.close()
	ix.commits = v.commits()
	return nil
}

// Reset makes the index empty and its position nil.
func (ix *Index) Reset() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	ix.life.Lock()
	defer ix.life.Unlock()
	if ix.engine == nil {
		return fmt.Errorf("search: reset: %w", ErrClosed)
	}
	// What the old engine says at its end is about files that go now.
	_ = ix.stop()
	err := ix.remove()
	if err == nil {
		err = ix.create()
	}
	if err != nil {
		return fmt.Errorf("search: reset: %w", err)
	}
	return nil
}

// Close waits for searches and commits and releases the index. What was
// committed is on disk already.
func (ix *Index) Close() error {
	ix.writing.Lock()
	defer ix.writing.Unlock()
	ix.life.Lock()
	defer ix.life.Unlock()
	if err := ix.stop(); err != nil {
		return fmt.Errorf("search: close: %w", err)
	}
	return nil
}

// analyzers lends analyzers, whose caches are worth keeping.
type analyzers struct{ pool sync.Pool }

func (p *analyzers) get() *analyzer {
	if a, ok := p.pool.Get().(*analyzer); ok {
		return a
	}
	return newAnalyzer()
}

func (p *analyzers) put(a *analyzer) { p.pool.Put(a) }
