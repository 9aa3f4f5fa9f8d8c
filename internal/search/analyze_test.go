package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// tokensOf gives the terms of a text, those that stand beside another one in
// brackets.
func tokensOf(text string) string {
	var list []string
	newAnalyzer().analyze(text, func(t token) {
		if t.extra {
			list = append(list, "("+string(t.term)+")")
			return
		}
		list = append(list, string(t.term))
	})
	return strings.Join(list, " ")
}

func TestAnalyze(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		// English
		{"", ""},
		{"  \t\n", ""},
		{"The retries were RETRIED", "the retri were retri"},
		{"outages, outage; Outage!", "outag outag outag"},
		{"Amazon's servers", "amazon server"},
		{"Amazon’s servers", "amazon server"},
		{"don't 'quoted' rock'n'roll", "don't quot rock'n'rol"},
		{"AT&T TCP/IP max_connections", "at t tcp ip max connect"},
		{"naïve Zürich", "naïve zürich"},
		// numbers and versions
		{"v5.0.1 and 1.1.1.1.", "v5.0.1 and 1.1.1.1"},
		{"us-east-1a, EC2, IPv6, 5xx", "us east 1a ec2 ipv6 5xx"},
		{"2:19am PDT, 0.15%-0.25%", "2 19am pdt 0.15 0.25"},
		{"2015-09-20 2.", "2015 09 20 2"},
		{"IL-0282", "il 0282"},
		{"x²", "x2"},
		// folding
		{"ＤｙｎａｍｏＤＢ", "dynamodb"},
		{"ﬁle ﬀ", "file ff"},
		{"STRASSE Straße", "strass straße"},
		{"ÀÉ", "àé"},
		{"soft\u00adhyphen zero\u200bwidth \ufeffbom", "softhyphen zerowidth bom"},
		// Korean
		{"장애", "장애"},
		{"큐", "큐"},
		{"재시도", "재시 시도"},
		{"메타데이터 서비스", "메타 타데 데이 이터 서비 비스"},
		{"DynamoDB의 오류율", "dynamodb 의 오류 류율"},
		{"큐가 막혔다", "(큐) 큐가 막혔 혔다"},
		{"값에서 국가", "(값) 값에 에서 (국) 국가"},
		{"3년 동안 약 55%", "3 년 동안 약 55"},
		{"순환·숨은 의존", "순환 (숨) 숨은 의존"},
		{"\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"}, // conjoining letters
		{"EC2인스턴스API호출", "ec2 인스 스턴 턴스 api 호출"},
		// Japanese and Chinese
		{"障害", "障害"},
		{"東京証券取引所の障害", "東京 京証 証券 券取 取引 引所 の 障害"},
		{"サーバーの障害", "サー ーバ バー の 障害"},
		{"ｻｰﾊﾞｰ", "サー ーバ バー"},
		{"らーめん", "らー ーめ めん"},
		{"データセンター・火災", "デー ータ タセ セン ンタ ター 火災"},
		{"人々", "人々"},
		{"阿里云故障", "阿里 里云 云故 故障"},
		// other scripts
		{"Отказ сервера", "отказ сервера"},
		{"μs µs", "μ s μ s"},
		{"שגיאה خطأ", "שגיאה خطأ"},
		{"ไฟฟ้า", "ไฟ ฟฟ ฟ้ ้า"},
		{"🔥 fire🔥fire", "fire fire"},
		// long words
		{strings.Repeat("a", 100) + " b", strings.Repeat("a", 64) + " b"},
	} {
		if got := tokensOf(tt.text); got != tt.want {
			t.Errorf("tokens of %q = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestAnalyzePositions(t *testing.T) {
	type place struct {
		Term           string
		At, Start, End int
	}
	for _, tt := range []struct {
		text string
		want []place
	}{
		{"leap second", []place{{"leap", 0, 0, 4}, {"second", 2, 5, 11}}},
		{"재시도 폭풍", []place{{"재시", 0, 0, 2}, {"시도", 1, 1, 3}, {"폭풍", 4, 4, 6}}},
		{"(DynamoDB의)", []place{{"dynamodb", 0, 1, 9}, {"의", 2, 9, 10}}},
		{"ﬁx ㈜a", []place{{"fix", 0, 0, 2}, {"주", 2, 3, 4}, {"a", 4, 4, 5}}},
		{"e\u0301a", []place{{"éa", 0, 0, 3}}},
		{"AWS's ", []place{{"aw", 0, 0, 5}}},
	} {
		var got []place
		newAnalyzer().analyze(tt.text, func(t token) { got = append(got, place{string(t.term), t.at, t.start, t.end}) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("places of %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestAnalyzeGap checks that a phrase cannot reach from one text into another.
func TestAnalyzeGap(t *testing.T) {
	a := newAnalyzer()
	var at []int
	for _, text := range []string{"leap", "second"} {
		a.analyze(text, func(t token) { at = append(at, t.at) })
	}
	if at[1]-at[0] <= 2 {
		t.Errorf("distance of words in two texts = %d, want more than the 2 of neighbours", at[1]-at[0])
	}
}

func TestStemLength(t *testing.T) {
	for _, tt := range []struct {
		word string
		want int
	}{
		{"재시도", 2}, // why a word is only taken apart where it finds too little
		{"서버", 2},
		{"서버가", 2},
		{"회의", 2},
		{"데이터베이스에서는", 6},
		{"리전으로부터", 2},
		{"오류율", 3},
		{"은", 1},
	} {
		if got := stemLength(tt.word); got != tt.want {
			t.Errorf("stemLength(%q) = %d, want %d", tt.word, got, tt.want)
		}
	}
}

// FuzzAnalyze checks what the others build on: ranges inside the text,
// positions that never go back, terms that the chain leaves as they are.
func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{
		"", "The retries", "DynamoDB의 오류율", "サーバーの障害", "v5.0.1. 1.a '.'", "ﬁ e\u0301 \u1112\u1161\u11ab", "ไฟฟ้า", "İi ǅ ß ΑΣ",
		"\u0301a", "3년3年", "ー ーあー", "\xff\xfe",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		length := utf8.RuneCountInString(s)
		last, run := 0, 0
		a := newAnalyzer()
		a.analyze(s, func(tok token) {
			switch {
			case tok.start < 0 || tok.start >= tok.end || tok.end > length:
				t.Fatalf("token %q of %q has range %d to %d of %d", tok.term, s, tok.start, tok.end, length)
			case tok.at < last || tok.run < run:
				t.Fatalf("token %q of %q goes back to position %d after %d", tok.term, s, tok.at, last)
			case len(tok.term) == 0 || !utf8.Valid(tok.term):
				t.Fatalf("%q has the token %q", s, tok.term)
			}
			last, run = tok.at, tok.run
		})
	})
}
