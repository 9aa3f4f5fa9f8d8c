package view

import (
	"errors"
	"fmt"
	"slices"

	"incidentgraph/internal/incident"
	"incidentgraph/internal/index"
)

// InputError says that an argument's value cannot be used.
type InputError struct {
	// Path leads to the value: the argument, then member names and list
	// indexes inside it.
	Path []any
	// Reason says what is wrong and what would be right.
	Reason string
}

// Error names the value and the reason.
func (e *InputError) Error() string {
	if len(e.Path) == 0 {
		return e.Reason
	}
	return incident.PathString(e.Path) + ": " + e.Reason
}

func badInput(argument, format string, args ...any) error {
	return &InputError{Path: []any{argument}, Reason: fmt.Sprintf(format, args...)}
}

// LimitError says that a request asks for more than a limit allows.
type LimitError struct {
	// Limit is the limit's name as in service.limits.
	Limit string
	// Max is the limit, Value what the request asks for; a Value of -1 is
	// more than Max, but was not counted to the end.
	Max, Value int
	// Field is the response path of the field that asks for most, "" where
	// that means nothing.
	Field string
	// Path leads to the argument, nil where it is not about one.
	Path []any
}

// Error names the limit and the value.
func (e *LimitError) Error() string {
	s := fmt.Sprintf("%s is %d", e.Limit, e.Max)
	if e.Value >= 0 {
		s += fmt.Sprintf(", the request asks for %d", e.Value)
	}
	if e.Field != "" {
		s += ", most of it at " + e.Field
	}
	return s
}

// within puts an argument's name before the paths of the index's errors,
// which begin inside the argument.
func within(argument string, err error) error {
	var term *index.UnknownTermError
	var caseID *index.UnknownCaseError
	var filter *index.FilterError
	switch {
	case errors.As(err, &term):
		e := *term
		e.Path = slices.Concat([]any{argument}, e.Path)
		return &e
	case errors.As(err, &caseID):
		e := *caseID
		e.Path = slices.Concat([]any{argument}, e.Path)
		return &e
	case errors.As(err, &filter):
		return &InputError{Path: slices.Concat([]any{argument}, filter.Path), Reason: filter.Reason}
	}
	return err
}
