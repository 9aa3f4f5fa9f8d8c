package incident

import "testing"

func TestLanguageTag(t *testing.T) {
	for in, want := range map[string]string{
		"en": "en", "KO": "ko", "fil": "fil", "pt-br": "pt-BR", "ZH-hant-tw": "zh-Hant-TW", "es-419": "es-419",
		"de-CH-1996": "de-CH-1996", "sl-rozaj-biske": "sl-rozaj-biske", "zh-cmn-hans-cn": "zh-cmn-Hans-CN",
		"EN-ca-X-CA": "en-CA-x-ca", "az-latn-x-LATN": "az-Latn-x-latn", "de-a-foo-b-ba-r": "",
		"en-u-ca-gregory": "en-u-ca-gregory", "x-whatever": "x-whatever", "I-KLINGON": "i-klingon",
		"SGN-be-fr": "sgn-BE-FR", "en-gb-OED": "en-GB-oed", "zh-min-nan": "zh-min-nan", "owner": "owner", "und": "und",
		"": "", "e": "", "en-": "", "-en": "", "en--us": "", "pt_BR": "", "x": "", "x-": "", "en-x": "", "en-a": "",
		"en-a-x-b": "", "toolonglanguage": "", "en-toolongvariant": "", "e1": "", "12": "", "en us": "", "한국어": "",
		"i-unheard": "", "en-us-us": "", "en-latn-cyrl": "", "a-b": "", "x-toolongpart": "", "abcd-efg-hij-latn": "",
		"en-abc-def-ghi-latn": "en-abc-def-ghi-Latn", "en-abc-def-ghi-jkl": "", "abcd-us": "abcd-US", "\u212aa": "",
	} {
		got, ok := languageTag(in)
		if got != want || ok != (want != "") {
			t.Errorf("languageTag(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}
