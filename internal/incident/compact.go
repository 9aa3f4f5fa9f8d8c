package incident

// Compact gives the record without insignificant white space, members in the
// order given, strings and numbers byte for byte as written. raw must have
// passed Decode.
func Compact(raw []byte) []byte { return AppendCompact(make([]byte, 0, len(raw)), raw) }

// AppendCompact is Compact into memory of the caller's.
func AppendCompact(out, raw []byte) []byte {
	start := 0
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i = stringEnd(raw, i)
		case isSpace(c):
			out = append(out, raw[start:i]...)
			for i < len(raw) && isSpace(raw[i]) {
				i++
			}
			start = i
		default:
			i++
		}
	}
	return append(out, raw[start:]...)
}

// stringEnd gives the place after the string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; ; i++ {
		i, _ = special(raw, i)
		if i >= len(raw) || raw[i] == '"' {
			return min(i+1, len(raw))
		}
		if raw[i] == '\\' {
			i++
		}
	}
}
