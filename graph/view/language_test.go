package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"incidentgraph/internal/incident"
)

func TestParseAcceptLanguage(t *testing.T) {
	for _, c := range []struct {
		header string
		want   Languages
	}{
		{"", nil},
		{"ko", Languages{"ko"}},
		{"en;q=0.3, ko-kr;q=0.8, *;q=0.1", Languages{"ko-KR", "en", "*"}},
		{"fr, en, de", Languages{"fr", "en", "de"}},
		{"fr;q=0, en", Languages{"en"}},
		{"en; Q=0.5 ,ko", Languages{"ko", "en"}},
		{"en;q=2, en;q=x, en;q=-1, ;;, en_US, ko;level=1, en;q=NaN", Languages{}},
		{"en" + strings.Repeat(", fr", 40), Languages{"en", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr", "fr"}},
		{strings.Repeat("x", 5000), nil},
	} {
		got, _ := ParseAcceptLanguage(c.header)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("ParseAcceptLanguage(%.60q) (-want +got):\n%s", c.header, diff)
		}
	}
}

func TestChoose(t *testing.T) {
	text := func(tags ...string) incident.Text {
		var x incident.Text
		for _, tag := range tags {
			x = append(x, incident.LanguageText{Language: tag, Text: "in " + tag})
		}
		return x
	}
	for _, c := range []struct {
		name     string
		asked    Languages
		text     incident.Text
		want     string
		fallback bool
	}{
		{"nothing asked", nil, text("ko", "en"), "en", false},
		{"nothing asked, no English", nil, text("ko", "fr"), "ko", true},
		{"first choice", Languages{"ko", "en"}, text("en", "ko"), "ko", false},
		{"second choice", Languages{"fr", "ko"}, text("en", "ko"), "ko", false},
		{"shortened", Languages{"ko-KR"}, text("en", "ko"), "ko", false},
		{"shortened twice", Languages{"zh-Hant-TW"}, text("en", "zh"), "zh", false},
		{"single letter", Languages{"en-a-bbb"}, text("ko", "en"), "en", false},
		{"exact before shortened", Languages{"pt-BR"}, text("pt", "pt-BR"), "pt-BR", false},
		{"longer tag", Languages{"pt"}, text("en", "pt-BR"), "pt-BR", false},
		{"look-up before longer tag", Languages{"pt", "en"}, text("pt-BR", "en"), "en", false},
		{"fallback to English", Languages{"fr"}, text("ko", "en"), "en", true},
		{"fallback to British English", Languages{"fr"}, text("ko", "en-GB"), "en-GB", true},
		{"fallback to the first", Languages{"fr"}, text("ko", "ja"), "ko", true},
		{"any", Languages{"fr", "*"}, text("ko", "en"), "en", false},
		{"any, no English", Languages{"*"}, text("ko"), "ko", false},
		{"undetermined", Languages{"en"}, text("und"), "und", true},
		{"not a beginning", Languages{"e"}, text("ko", "en"), "en", true},
	} {
		i, fallback := c.asked.choose(c.text)
		if got := c.text[i].Language; got != c.want || fallback != c.fallback {
			t.Errorf("%s: %v.choose = %s, %t, want %s, %t", c.name, c.asked, got, fallback, c.want, c.fallback)
		}
	}
}

func TestRefusedLanguages(t *testing.T) {
	for _, c := range []struct {
		header   string
		tags     []string
		want     string
		fallback bool
	}{
		{"en;q=0", []string{"en", "ko"}, "ko", true},
		{"en;q=0", []string{"en"}, "en", true},
		{"en;q=0", []string{"en-GB", "ko"}, "ko", true},
		{"en;q=0, en-GB", []string{"en", "en-GB"}, "en-GB", false},
		{"en;q=0, *", []string{"en", "ko"}, "ko", false},
		{"en;q=0, *", []string{"en"}, "en", true},
		{"ko, en;q=0", []string{"en", "fr"}, "fr", true},
		{"ko, en;q=0", []string{"en", "ko"}, "ko", false},
		{"ko;q=0", []string{"en", "ko"}, "en", false},
		{"*;q=0", []string{"en"}, "en", true},
	} {
		var text incident.Text
		for _, tag := range c.tags {
			text = append(text, incident.LanguageText{Language: tag, Text: "in " + tag})
		}
		wanted, refused := ParseAcceptLanguage(c.header)
		i, fallback := wanted.chooseBut(refused, text)
		if got := text[i].Language; got != c.want || fallback != c.fallback {
			t.Errorf("%s of %v = %s, %t, want %s, %t", c.header, c.tags, got, fallback, c.want, c.fallback)
		}
	}
}

func TestTranslation(t *testing.T) {
	x := &LocalizedText{versions: incident.Text{{Language: "en", Text: "a"}, {Language: "ko", Text: "b"}}}
	for _, c := range []struct {
		language, want string
		ok             bool
	}{{"ko", "b", true}, {"ko-KR", "b", true}, {"fr", "", false}} {
		if got, ok := x.Translation(c.language); got != c.want || ok != c.ok {
			t.Errorf("Translation(%s) = %q, %t, want %q, %t", c.language, got, ok, c.want, c.ok)
		}
	}
	if diff := cmp.Diff([]string{"en", "ko"}, x.Available()); diff != "" {
		t.Errorf("Available() (-want +got):\n%s", diff)
	}
}

func FuzzParseAcceptLanguage(f *testing.F) {
	for _, s := range []string{"ko-KR,ko;q=0.9,en;q=0.8", "*", "en;q=", ",,,;q=1", "x-a-b;q=0.001"} {
		f.Add(s)
	}
	text := incident.Text{{Language: "ko", Text: "a"}, {Language: "en-GB", Text: "b"}}
	f.Fuzz(func(t *testing.T, header string) {
		languages, refused := ParseAcceptLanguage(header)
		if len(languages) > maxRanges {
			t.Errorf("ParseAcceptLanguage(%q) gives %d ranges, want at most %d", header, len(languages), maxRanges)
		}
		if i, _ := languages.choose(text); i < 0 || i >= len(text) {
			t.Errorf("choose = %d, want a version", i)
		}
		if i, _ := languages.chooseBut(refused, text); i < 0 || i >= len(text) {
			t.Errorf("chooseBut = %d, want a version", i)
		}
	})
}
