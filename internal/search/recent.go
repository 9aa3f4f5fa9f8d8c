package search

import (
	"slices"
	"strings"
	"sync"
)

// maxRecent is the number of case ids that are kept of the last commits.
const maxRecent = 4096

// recentChanges holds what the last commits changed, so that who keeps what
// was found before can tell what is still true of it.
type recentChanges struct {
	mu      sync.Mutex // guards all
	commits []commitIDs
	ids     int // in commits
}

// commitIDs are the ids that one commit changed. The numbers of commits follow
// each other.
type commitIDs struct {
	number uint64
	ids    []string
}

// add notes a commit that is about to be made. The oldest ones are forgotten
// where there are too many ids.
func (r *recentChanges) add(number uint64, ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(ids) <= maxRecent {
		for i, id := range ids {
			ids[i] = strings.Clone(id) // it may be a part of a record
		}
	}
	r.commits = append(r.commits, commitIDs{number, ids})
	r.ids += len(ids)
	for r.ids > maxRecent {
		r.ids -= len(r.commits[0].ids)
		r.commits = slices.Delete(r.commits, 0, 1)
	}
}

// between gives the ids that were changed by the commits after one up to
// another; false where some of these commits are forgotten.
func (r *recentChanges) between(after, upTo uint64) ([]string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after < upTo && (len(r.commits) == 0 || r.commits[0].number > after+1) {
		return nil, false
	}
	var ids []string
	for _, c := range r.commits {
		if after < c.number && c.number <= upTo {
			ids = append(ids, c.ids...)
		}
	}
	return ids, true
}

// forget forgets all.
func (r *recentChanges) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits, r.ids = nil, 0
}
