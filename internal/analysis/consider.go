package analysis

import (
	"context"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// considerSupport is in how many incidents two terms must occur together for
// one to be brought to mind by the other.
const considerSupport = 2

// Consider finds the terms of some vocabularies that usually come with given
// ones and are not among them: for each its strongest association with a given
// term over the incidents of set, given one left, if they occur together more
// often than independent terms would and in at least two incidents. The order
// is that of Associations; Q is over all pairs of a given and a missing term
// that occur together so often.
func Consider(ctx context.Context, s *index.Snapshot, set index.Set, given []index.TermID, among []incident.Vocabulary, first int) ([]Association, error) {
	t := newTester(s, set.Len())
	for _, v := range among {
		c := columnOf(s, GroupKey(v))
		rights, err := tally(ctx, set, c)
		if err != nil {
			return nil, err
		}
		for _, left := range given {
			if err := t.countWith(ctx, set, left, c, rights, considerSupport, given); err != nil {
				return nil, err
			}
		}
	}
	if err := t.test(ctx); err != nil {
		return nil, err
	}
	var list []Association
	seen := make(map[index.TermID]bool)
	for _, a := range t.associations(-1) {
		if a.NPMI > 0 && !seen[a.Right] && (first < 0 || len(list) < first) {
			seen[a.Right] = true
			list = append(list, a)
		}
	}
	return list, nil
}
