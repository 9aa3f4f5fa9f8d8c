package incident

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2]}`, `{ "b": [ 1, 2 ], "a": 1 }`, true},
		{`{"a":"\u0041\/"}`, `{"\u0061":"A/"}`, true},
		{`{"a":"😀"}`, `{"a":"\ud83d\ude00"}`, true},
		{`{"a":{"b":{"c":null},"d":true}}`, `{"a":{"d":true,"b":{"c":null}}}`, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"a":1e2}`, `{"a":1E2}`, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":[1]}`, `{"a":[1,1]}`, false},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`{"a":1,"b":2}`, `{"a":1,"c":2}`, false},
		{`{"a":1,"b":2}`, `{"b":1,"a":2}`, false},
		{`{"a":null}`, `{"a":false}`, false},
		{`{"a":"é"}`, `{"a":"e\u0301"}`, false},
		{`{"a":[]}`, `{"a":{}}`, false},
		{`{"a":1`, `{"a":1}`, false},
	} {
		if got := Equal([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("Equal(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
		if got := Equal([]byte(tt.b), []byte(tt.a)); got != tt.want {
			t.Errorf("Equal(%s, %s) = %v, want %v", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestCompact(t *testing.T) {
	for in, want := range map[string]string{
		" { \"a b\" : [ 1 , 2.50 ] ,\r\n\t\"c\\\" d\" : \" x \\\\\" } \n": `{"a b":[1,2.50],"c\" d":" x \\"}`,
		`{}`:                    `{}`,
		`[true, "" , {}]`:       `[true,"",{}]`,
		`"12345678\" 12345678"`: `"12345678\" 12345678"`,
	} {
		if got := Compact([]byte(in)); string(got) != want {
			t.Errorf("Compact(%s) = %s, want %s", in, got, want)
		}
	}
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(full)); err != nil {
		t.Fatal(err)
	}
	if got := Compact([]byte(full)); string(got) != want.String() {
		t.Errorf("Compact(full) = %s, want %s", got, &want)
	}
}

// TestSpecial compares the words of eight bytes with a look at each byte.
func TestSpecial(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := []byte("abcdefgh\x7f\x21\x5b\x5dmnopqrs")
			if at < len(b) {
				b[at] = byte(c)
			}
			want, high := len(b), false
			for i, x := range b {
				if x == '"' || x == '\\' || x < ' ' {
					want = i
					break
				}
				high = high || x >= 0x80
			}
			got, seen := special(b, 0)
			if got != want || high && !seen {
				t.Errorf("special(%q) = %d, %v, want %d, %v", b, got, seen, want, high)
			}
		}
	}
}
