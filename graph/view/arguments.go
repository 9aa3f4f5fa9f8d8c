package view

import "slices"

// amount checks an argument that says how many elements are wanted, from least
// up to the size of a page; standard stands for null.
func (o *Operation) amount(argument string, given *int, standard, least int) (int, error) {
	return bounded(argument, given, standard, least, "maxPageSize", o.settings.Limits.MaxPageSize)
}

// bounded checks an argument that is a number from least up to a limit of the
// server. Where it is null, or the standard that the schema puts in its place,
// a lower limit stands in.
func bounded(argument string, given *int, standard, least int, limit string, most int) (int, error) {
	switch {
	case given == nil || *given == standard:
		return min(standard, most), nil
	case *given < least && least == 0:
		return 0, badInput(argument, "must not be negative")
	case *given < least:
		return 0, badInput(argument, "must be %d or more", least)
	case *given > most:
		return 0, &LimitError{Limit: limit, Max: most, Value: *given, Path: []any{argument}}
	}
	return *given, nil
}

// atLeast checks an argument that is a number without upper limit.
func atLeast(argument string, given *int, standard, least int) (int, error) {
	n := standard
	if given != nil {
		n = *given
	}
	if n < least {
		return 0, badInput(argument, "must be %d or more", least)
	}
	return n, nil
}

// different checks a list whose values must not repeat.
func different[T comparable](argument string, values []T) error {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return &InputError{Path: []any{argument, i}, Reason: "is there twice"}
		}
	}
	return nil
}
