package main

import (
	"incidentgraph/internal/incident"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/search"
)

// textSuffix makes of the store's file the folder of its text index. It can be
// removed while no server runs: it is made anew then.
const textSuffix = ".search"

// openText opens the text index: the one beside the store, or one in memory
// where there is no store, or its folder cannot be used.
func (s *server) openText(c *incident.Concepts) (ingest.Option, error) {
	if s.store == nil {
		x, err := search.OpenMemory(c)
		return ingest.WithText(x), err
	}
	folder := s.store.Path() + textSuffix
	x, err := search.Open(folder, c)
	if err != nil {
		s.log.Warn("the text index is kept in memory, and made anew at every start", "error", err)
		x, err = search.OpenMemory(c)
		return ingest.WithText(x), err
	}
	if x.Found() != search.FoundIndex {
		s.log.Info("the text index is made in the background", "folder", folder, "found", x.Found().String())
	}
	return ingest.WithText(x), nil
}
