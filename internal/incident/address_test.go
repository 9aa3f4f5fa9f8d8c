package incident

import "testing"

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.com/a?b=c#d":                           "https://example.com/a?b=c#d",
		"HTTP://example.com":                                    "HTTP://example.com",
		"ftp://example.com/x":                                   "ftp://example.com/x",
		"http://[::1]:8080/x":                                   "http://[::1]:8080/x",
		"https://example.com/%ED%95%9C":                         "https://example.com/%ED%95%9C",
		"https://example.com/한":                                 "https://example.com/%ED%95%9C",
		"https://web.archive.org/web/2026/https://example.com/": "https://web.archive.org/web/2026/https://example.com/",
		"http://a.com/x;http://b.com/y":                         "http://a.com/x;http://b.com/y",
		"":                                                      "",
		"example.com":                                           "",
		"//example.com/x":                                       "",
		"/x":                                                    "",
		"mailto:a@example.com":                                  "",
		"javascript:alert(1)":                                   "",
		"javascript://example.com/%0a1":                         "",
		"https://":                                              "",
		"https:///x":                                            "",
		"https://:80/":                                          "",
		"https://example.com/a b":                               "",
		"https://example.com; also this":                        "",
		"https://example.com/\"x\"":                             "",
		"https://example.com/%zz":                               "",
		"https://example.com/100%":                              "",
		"https://example.com:port/":                             "",
		"see https://example.com/":                              "",
		"https://example.com/\n":                                "",
		"vcdb":                                                  "",
	} {
		got, ok := address(in)
		if got != want || ok != (want != "") {
			t.Errorf("address(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}
