package scalar

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"incidentgraph/internal/incident"
)

func written(m graphql.Marshaler) string {
	var b strings.Builder
	m.MarshalGQL(&b)
	return b.String()
}

func TestMarshal(t *testing.T) {
	cet := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		name string
		m    graphql.Marshaler
		want string
	}{
		{"Float whole", MarshalFloat(34214400), "34214400"},
		{"Float zero", MarshalFloat(0), "0"},
		{"Float fraction", MarshalFloat(0.1), "0.1"},
		{"Float negative", MarshalFloat(-2.5), "-2.5"},
		{"Float small", MarshalFloat(5e-9), "5e-09"},
		{"Float large", MarshalFloat(1e300), "1e+300"},
		{"Float NaN", MarshalFloat(math.NaN()), "null"},
		{"Float infinite", MarshalFloat(math.Inf(1)), "null"},
		{"DateTime", MarshalDateTime(time.Date(2026, 11, 14, 12, 33, 53, 681461000, time.UTC)), `"2026-11-14T12:33:53.681461Z"`},
		{"DateTime elsewhere", MarshalDateTime(time.Date(2026, 11, 14, 0, 0, 0, 0, cet)), `"2026-11-13T23:00:00Z"`},
		{"DateTime none", MarshalDateTime(time.Time{}), "null"},
		{"PartialDate", MarshalPartialDate(incident.Date(2015<<16 | 9<<8)), `"2015-09"`},
		{"PartialDate none", MarshalPartialDate(0), "null"},
		{"JSON", MarshalJSON(json.RawMessage(`{"a":1.00}`)), `{"a":1.00}`},
		{"JSON none", MarshalJSON(nil), "null"},
		{"ID", MarshalID(`a"b`), `"a\"b"`},
	} {
		got := written(c.m)
		if got != c.want {
			t.Errorf("%s = %s, want %s", c.name, got, c.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s = %s, want valid JSON", c.name, got)
		}
	}
}

func TestUnmarshalLanguage(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"en", "en"},
		{"EN", "en"},
		{"ko-kr", "ko-KR"},
		{"zh-hant-tw", "zh-Hant-TW"},
		{"und", "und"},
		{"qqq-latn-xx", "qqq-Latn-XX"},
		{"x-private", "x-private"},
		{"de-1996", "de-1996"},
	} {
		got, err := UnmarshalLanguage(c.in)
		if err != nil || got != c.want {
			t.Errorf("UnmarshalLanguage(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []any{"", "en_US", "a", "toolonglanguage", "en-", "*", 5, nil, strings.Repeat("en-", 50)} {
		var refused *Error
		if got, err := UnmarshalLanguage(in); !errors.As(err, &refused) {
			t.Errorf("UnmarshalLanguage(%v) = %q, %v, want an *Error", in, got, err)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
	}{
		{"ID float", second(UnmarshalID(json.Number("1.5")))},
		{"ID bool", second(UnmarshalID(true))},
		{"Float string", second(UnmarshalFloat("1"))},
		{"Float overflow", second(UnmarshalFloat(json.Number("1e999")))},
		{"DateTime day", second(UnmarshalDateTime("2026-11-14"))},
		{"DateTime number", second(UnmarshalDateTime(json.Number("5")))},
		{"PartialDate leap day", second(UnmarshalPartialDate("2018-02-29"))},
		{"PartialDate month 13", second(UnmarshalPartialDate("2018-13"))},
		{"PartialDate empty", second(UnmarshalPartialDate(""))},
		{"URL relative", second(UnmarshalURL("/a/b"))},
		{"URL broken", second(UnmarshalURL("http://[::1"))},
	} {
		var refused *Error
		if !errors.As(c.err, &refused) {
			t.Errorf("%s: error = %v, want an *Error", c.name, c.err)
		}
	}
}

func TestCheck(t *testing.T) {
	if err := Check("PartialDate", "2015-09"); err != nil {
		t.Errorf("Check(PartialDate, 2015-09) = %v, want nil", err)
	}
	if err := Check("PartialDate", "soon"); err == nil {
		t.Error("Check(PartialDate, soon) = nil, want an error")
	}
	if err := Check("JSON", map[string]any{"a": 1}); err != nil {
		t.Errorf("Check(JSON, …) = %v, want nil", err)
	}
}

func second[T any](_ T, err error) error { return err }
