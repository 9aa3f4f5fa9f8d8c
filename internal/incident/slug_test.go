package incident

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"retry-storm":                          "retry-storm",
		"Retry Storm":                          "retry-storm",
		"--Retry__Storm!!":                     "retry-storm",
		"a--b":                                 "a-b",
		"a-":                                   "a",
		"Internal Revenue Service ":            "internal-revenue-service",
		"AT&T":                                 "at-t",
		"Ｆｕｌｌ　Ｗｉｄｔｈ":                           "full-width",
		"ﬁle²":                                 "file2",
		"설정 변경":                                "설정-변경",
		"\u1109\u1165\u11af\u110c\u1165\u11bc": "설정",
		"Zoe\u0308":                            "zoë",
		"हिन्दी भाषा":                          "हिन्दी-भाषा",
		"TravisCI":                             "travisci",
		"İstanbul":                             "istanbul",
		"half\u200bwidth":                      "half-width",
	} {
		if got := Slug(in); got != want {
			t.Errorf("Slug(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSlugOfNothing(t *testing.T) {
	a, b := Slug("!!!"), Slug("???")
	if !strings.HasPrefix(a, "x-") || len(a) != 10 || a == b || Slug(a) != a {
		t.Errorf(`Slug("!!!"), Slug("???") = %q, %q, want two of x- and a hash`, a, b)
	}
}

func TestSlugLong(t *testing.T) {
	same := strings.Repeat("word ", 40)
	a, b := Slug(same+"one"), Slug(same+"two")
	if len(a) != MaxSlugLength || a == b || a[:100] != b[:100] {
		t.Errorf("Slug of long texts = %q, %q, want two of 128 characters that differ at the end", a, b)
	}
	if got := Slug(strings.Repeat("x", 128)); got != strings.Repeat("x", 128) {
		t.Errorf("Slug of 128 characters = %q, want the same", got)
	}
	if got := Slug(strings.Repeat("변", 129)); utf8.RuneCountInString(got) != MaxSlugLength {
		t.Errorf("Slug of 129 characters = %q, want %d characters", got, MaxSlugLength)
	}
	// The cut falls on a hyphen, which is not doubled.
	if got := Slug(strings.Repeat("x", 118) + " " + strings.Repeat("y", 20)); strings.Contains(got, "--") {
		t.Errorf("Slug = %q, want single hyphens", got)
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Retry Storm", "İ", "ﬁ", "\u0345a", "설정 변경", "!!!", "a\u0301", "ϓ", "ẞ", "K", strings.Repeat("é ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Slug(s)
		if (got == "") != (s == "") {
			t.Fatalf("Slug(%q) = %q", s, got)
		}
		if again := Slug(got); again != got {
			t.Errorf("Slug(%q) = %q, but Slug of that is %q", s, got, again)
		}
		if n := utf8.RuneCountInString(got); n > MaxSlugLength {
			t.Errorf("Slug(%q) = %q, %d characters", s, got, n)
		}
		if strings.HasPrefix(got, "-") || strings.HasSuffix(got, "-") || strings.Contains(got, "--") {
			t.Errorf("Slug(%q) = %q, want hyphens between words only", s, got)
		}
		for _, r := range got {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) || r == utf8.RuneError {
				t.Errorf("Slug(%q) = %q has %q", s, got, r)
			}
		}
		if utf8.ValidString(s) && Slug(norm.NFD.String(s)) != got && !strings.HasPrefix(got, "x-") {
			t.Errorf("Slug(%q) = %q, of its NFD %q", s, got, Slug(norm.NFD.String(s)))
		}
	})
}

func BenchmarkSlugSentence(b *testing.B) {
	for b.Loop() {
		Slug("No monitoring of network subnet capacity let a known limitation become an acute problem.")
	}
}
