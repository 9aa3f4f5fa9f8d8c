package graph

import "testing"

func TestNegotiate(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", typeJSON},
		{" ", typeJSON},
		{"*/*", typeJSON},
		{"application/*", typeJSON},
		{"application/json", typeJSON},
		{"application/graphql-response+json", typeGraphQL},
		{"application/graphql-response+json; charset=utf-8", typeGraphQL},
		{"application/graphql-response+json, application/json;q=0.9", typeGraphQL},
		{"application/json, application/graphql-response+json", typeGraphQL},
		{"application/json;q=0.5, application/graphql-response+json", typeGraphQL},
		{"application/graphql-response+json;q=0, application/json", typeJSON},
		{"application/graphql-response+json;q=0.2, */*", typeJSON},
		{"application/json;q=0, */*", typeGraphQL},
		{"application/json;q=0, */*;q=0", ""},
		{"image/png", ""},
		{"text/html, */*;q=0.1", typeJSON},
		{"application/json;q=x", ""},
		{"broken, ;;, application/json", typeJSON},
	} {
		if got := negotiate(c.accept); got != c.want {
			t.Errorf("negotiate(%q) = %q, want %q", c.accept, got, c.want)
		}
	}
}
