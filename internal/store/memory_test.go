package store_test

import (
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Log { return store.NewMemory() })
}
