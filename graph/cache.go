package graph

import (
	"context"
	"sync"
)

// answers is the response cache: the answers to questions in the newest state
// that any was made in. A key names the state as well as the question, and a
// state never changes, so an answer that is found is the one that would be
// made. The cache is a map in the order of use under one lock, held for some
// hundred nanoseconds of a request that takes tens of microseconds.
//
// A search may see texts that are newer than its state; but then its state is
// no longer the newest one, and nobody asks for an answer of it again.
//
// Who asks for an answer while it is being made waits for it.
type answers struct {
	kept *lru[key, *reply]

	mu       sync.Mutex // guards what follows
	newest   uint64     // revision of the state of the answers kept
	underway map[key]*making
}

// reply is the answer to an operation that ran without error.
type reply struct {
	key  key
	body []byte
	seen Observation
}

const (
	replyOverhead = 512 // about what a reply takes beside its body
	largest       = 8   // no answer takes more than one part in so many of the cache
)

func (a *reply) size() int { return len(a.body) + len(a.seen.Name) + replyOverhead }

// newAnswers makes a cache of at most so many bytes; nil, which every method
// takes for an empty cache that keeps nothing, where that is none.
func newAnswers(bytes int) *answers {
	if bytes <= 0 {
		return nil
	}
	return &answers{kept: newLRU[key, *reply](bytes), underway: make(map[key]*making)}
}

// get gives the answer with a key, nil if it is not kept.
func (c *answers) get(k key) *reply {
	if c == nil {
		return nil
	}
	a, _ := c.kept.get(k)
	return a
}

// making is an answer that is being made.
type making struct {
	cache *answers
	key   key
	done  chan struct{} // closed at the end
	made  *reply        // nil where it is not to be kept; set before done is closed
}

// begin gives the answer with a key where it is kept, or where another request
// that makes it has it before ctx ends. Else it is the caller who makes it,
// and must call end.
func (c *answers) begin(ctx context.Context, k key) (*reply, *making) {
	if c == nil {
		return nil, nil
	}
	c.mu.Lock()
	other := c.underway[k]
	if other == nil {
		defer c.mu.Unlock()
		if a := c.get(k); a != nil { // since the caller looked
			return a, nil
		}
		m := &making{cache: c, key: k, done: make(chan struct{})}
		c.underway[k] = m
		return nil, m
	}
	c.mu.Unlock()
	select {
	case <-other.done:
		return other.made, nil
	case <-ctx.Done():
		return nil, nil
	}
}

// end gives the answer made to those who wait for it, and keeps it. It may be
// of a newer state, with the given revision, than the one that was asked for.
// nil is no answer; those who wait make their own. Only the first call counts.
func (m *making) end(a *reply, revision uint64) {
	if m == nil {
		return
	}
	c := m.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underway[m.key] != m {
		return
	}
	delete(c.underway, m.key)
	m.made = a
	close(m.done)
	if a == nil || revision < c.newest || a.size() > c.kept.max/largest {
		return
	}
	if revision > c.newest {
		c.kept.clear() // nothing will ask for the others again
		c.newest = revision
	}
	c.kept.add(a.key, a, a.size())
}
