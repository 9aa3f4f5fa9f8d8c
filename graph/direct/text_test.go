package direct

import (
	"bytes"
	"testing"

	"github.com/99designs/gqlgen/graphql"
)

// FuzzAppendString compares with gqlgen's function.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "한국어", "\"\\\n\r\t\x00\x1f\x7f", "\xff\xed\xa0\x80", "a\nb", "</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		graphql.MarshalString(s).MarshalGQL(&want)
		if got := AppendString([]byte("before"), s); string(got) != "before"+want.String() {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, &want)
		}
	})
}
