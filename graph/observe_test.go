package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestObserve(t *testing.T) {
	in, _ := ingesterOf(t, nil, []byte(`{"id":"T-1"}`))
	var seen []Observation
	h := NewHandler(Config{Ingester: in, Observe: func(_ context.Context, o Observation) { seen = append(seen, o) }})
	hash := func(document string) string {
		sum := sha256.Sum256([]byte(document))
		return hex.EncodeToString(sum[:])
	}
	const named = `query Newest { service { revision } }`
	for _, tt := range []struct {
		document string
		want     Observation
	}{
		{named, Observation{Kind: "query", Name: "Newest", Hash: hash(named), Cost: 2}},
		{`{ incidents(first: 101) { totalCount } }`, Observation{Kind: "query", Hash: hash(`{ incidents(first: 101) { totalCount } }`), Cost: 2, Codes: []string{codeLimit}}},
		{`{ nothing }`, Observation{Kind: "query", Hash: hash(`{ nothing }`), Codes: []string{codeValidationFailed}}},
		{`{`, Observation{Hash: hash(`{`), Codes: []string{codeParseFailed}}},
		{``, Observation{Codes: []string{codeBadRequest}}},
	} {
		seen = nil
		r := httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(tt.document), nil)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if len(seen) != 1 {
			t.Errorf("GET %q is observed %d times, want once", tt.document, len(seen))
			continue
		}
		if tt.want.Cost > 0 {
			tt.want.Cost = seen[0].Cost // the cost has tests of its own
			if seen[0].Cost <= 0 {
				t.Errorf("GET %q has the cost %d", tt.document, seen[0].Cost)
			}
		}
		if diff := cmp.Diff(tt.want, seen[0]); diff != "" {
			t.Errorf("GET %q is observed as (-want +got):\n%s", tt.document, diff)
		}
	}
	seen = nil
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(named)))
	if want := []Observation{{Codes: []string{codeUnsupportedMedia}}}; !cmp.Equal(seen, want) {
		t.Errorf("POST of text is observed as %+v, want %+v", seen, want)
	}
}
