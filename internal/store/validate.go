package store

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Validate tells whether the change keeps the rules that it can be held
// against without a store's state. The error is an ErrInvalidChange with the
// reason.
func (c Change) Validate() error {
	err := validateParts(c.Time, c.Actor, c.RequestID, len(c.Ops), func(i int) (OpKind, string, int) {
		return c.Ops[i].Kind, c.Ops[i].ID, len(c.Ops[i].Record)
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidChange, err)
	}
	return nil
}

// validate holds a decoded header against the same rules.
func (h Header) validate() error {
	return validateParts(h.Time, h.Actor, h.RequestID, len(h.Ops), func(i int) (OpKind, string, int) {
		return h.Ops[i].Kind, h.Ops[i].ID, int(h.Ops[i].Size)
	})
}

func validateParts(t time.Time, actor, requestID string, n int, op func(i int) (kind OpKind, id string, size int)) error {
	switch year := t.UTC().Year(); {
	case year < 1 || year > 9999:
		return fmt.Errorf("time is in the year %d", year)
	case len(actor) > MaxActorBytes:
		return fmt.Errorf("actor has %d bytes, the limit is %d", len(actor), MaxActorBytes)
	case !utf8.ValidString(actor):
		return errors.New("actor is not UTF-8")
	case requestID == "":
		return errors.New("request id is empty")
	case len(requestID) > MaxRequestIDBytes:
		return fmt.Errorf("request id has %d bytes, the limit is %d", len(requestID), MaxRequestIDBytes)
	case n == 0:
		return errors.New("no operations")
	case n > MaxOps:
		return fmt.Errorf("%d operations, the limit is %d", n, MaxOps)
	}
	seen := make(map[string]struct{}, n)
	for i := range n {
		kind, id, size := op(i)
		if err := validateOp(kind, id, size); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if _, twice := seen[id]; twice {
			return fmt.Errorf("operation %d: id %q is named twice", i, id)
		}
		seen[id] = struct{}{}
	}
	return nil
}

func validateOp(kind OpKind, id string, size int) error {
	switch {
	case kind != Put && kind != Delete:
		return fmt.Errorf("unknown kind %d", kind)
	case id == "":
		return errors.New("id is empty")
	case len(id) > MaxIDBytes:
		return fmt.Errorf("id has %d bytes, the limit is %d", len(id), MaxIDBytes)
	case kind == Delete && size > 0:
		return fmt.Errorf("delete of %q carries a record", id)
	case kind == Put && size == 0:
		return fmt.Errorf("put of %q carries no record", id)
	case size > MaxRecordBytes:
		return fmt.Errorf("record %q has %d bytes, the limit is %d", id, size, MaxRecordBytes)
	}
	return nil
}
