package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"incidentgraph/internal/fixture"
	"incidentgraph/internal/ingest"
)

// pause waits for a random time up to so many milliseconds: the moment of a
// kill is what is tested.
func pause(random *rand.Rand, most int) {
	time.Sleep(time.Duration(random.IntN(most*1000)) * time.Microsecond)
}

// importFile imports a file in this process, or through the server that has
// the store open.
func importFile(db, file string) (ingest.Report, error) {
	sources, err := ingest.Open([]string{file}, nil)
	if err != nil {
		return ingest.Report{}, err
	}
	return importInto(context.Background(), db, sources, importOptions{
		onError:      onErrorStop,
		onReject:     func(rejectLine) {},
		onPassedOver: func(string) {},
		onProgress:   func(ingest.Progress) {},
	})
}

// newClient gives a client that keeps its connections.
func newClient(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: patience}
}

// readAll lets some clients read until stop is called. Their errors do not
// count: the server may be killed under them.
func readAll(t *testing.T, url string, clients int) (stop func()) {
	t.Helper()
	var stopped atomic.Bool
	var running sync.WaitGroup
	client := newClient(clients)
	for range clients {
		running.Go(func() {
			for !stopped.Load() {
				if _, err := ask(client, url, soakQuery); err != nil {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	return func() {
		stopped.Store(true)
		running.Wait()
		client.CloseIdleConnections()
	}
}

const soakQuery = `{
	service { revision incidentCount }
	incidents(first: 5) { totalCount nodes { caseId title { text } summary { text } components { slug incidents(first: 2) { totalCount nodes { caseId } } } } }
	batch: incidents(where: { components: { any: ["soak-batch"] } }, first: 1) { totalCount }
	term(id: { vocabulary: COMPONENT, slug: "soak-batch" }) { incidentCount }
}`

// soakAnswer is the answer to soakQuery.
type soakAnswer struct {
	Service struct{ Revision, IncidentCount int }
	Incidents struct {
		TotalCount int
		Nodes      []struct{ CaseID string }
	}
	Batch struct{ TotalCount int }
	Term  *struct{ IncidentCount int }
}

var _ = json.Marshal
var _ = fmt.Sprint
var _ = os.Getenv
var _ = filepath.Join
var _ = strings.Contains
var _ = fixture.Lite
