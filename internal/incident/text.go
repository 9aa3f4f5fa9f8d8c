package incident

// Text is one text in several languages, in record order. Versions in
// different languages are independent originals, never translations on the
// fly. A nil Text is no text.
type Text []LanguageText

// LanguageText is the text in one language.
type LanguageText struct {
	// Language is a well-formed BCP 47 tag in its canonical case ("en",
	// "pt-BR"), "und" for a plain string whose language is not recorded.
	Language string
	// Text is never empty.
	Text string
}

// Undetermined is the BCP 47 tag of a text whose language is not recorded.
const Undetermined = "und"
