package graph

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"

	"incidentgraph/graph/scalar"
	"incidentgraph/graph/view"
	"incidentgraph/internal/incident"
)

// Coercion of variables follows the GraphQL specification (September 2025,
// section 6.1.2) to the letter, where gqlparser takes more: strings for
// numbers, enum values in any case, Ints of 64 bits.

// coercionError says that a variable's value does not fit its type.
type coercionError struct {
	// path is the variable's name, then member names and list indexes.
	path   []any
	reason string
}

func (e *coercionError) Error() string {
	return "$" + incident.PathString(e.path) + ": " + e.reason
}

// place is where a value is in what a request gives. The whole path is put
// together for an error alone: values do not cost more where they are deeper.
type place struct {
	within *place // nil for the argument or variable
	name   string // of the member; "" for an element of a list
	index  int
	// filters counts the filters that the place is in.
	filters int
}

// member gives the place of an object's member.
func (p *place) member(name string) place {
	return place{within: p, name: name, filters: p.filters}
}

// element gives the place of a list's element.
func (p *place) element(i int) place { return place{within: p, index: i, filters: p.filters} }

func (p *place) path() []any {
	var path []any
	for ; p != nil; p = p.within {
		if p.name != "" {
			path = append(path, shortened(p.name))
		} else {
			path = append(path, p.index)
		}
	}
	slices.Reverse(path)
	return path
}

func (p *place) refuse(format string, args ...any) error {
	return &coercionError{p.path(), fmt.Sprintf(format, args...)}
}

// coercion turns what came as JSON into values of input types.
type coercion struct {
	schema *ast.Schema
	limits *view.Limits
}

// variables coerces the values of an operation's variables, after it has found
// that they are not too large. Values for names that it does not declare are
// ignored.
func (c coercion) variables(op *ast.OperationDefinition, given map[string]any) (map[string]any, error) {
	var size inputSize
	for _, def := range op.VariableDefinitions {
		if err := size.value(given[def.Variable], 0); err != nil {
			return nil, err
		}
	}
	coerced := make(map[string]any, len(op.VariableDefinitions))
	for _, def := range op.VariableDefinitions {
		at := place{name: def.Variable}
		v, ok := given[def.Variable]
		var err error
		switch {
		case ok:
			v, err = c.value(def.Type, v, &at)
		case def.DefaultValue != nil:
			v, err = def.DefaultValue.Value(nil)
		case def.Type.NonNull:
			err = at.refuse("a value of the type %s is needed", def.Type)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		coerced[def.Variable] = v
	}
	return coerced, nil
}

func (c coercion) value(t *ast.Type, v any, at *place) (any, error) {
	switch {
	case v == nil && t.NonNull:
		return nil, at.refuse("it must not be null")
	case v == nil:
		return nil, nil
	case t.Elem != nil:
		return c.list(t, v, at)
	}
	def := c.schema.Types[t.NamedType]
	switch def.Kind {
	case ast.Enum:
		if name, ok := v.(string); ok && def.EnumValues.ForName(name) != nil {
			return name, nil
		}
		return nil, at.refuse("it is not a value of the enum %s", def.Name)
	case ast.InputObject:
		return c.object(def, v, at)
	}
	v, err := scalarValue(def.Name, v)
	if err != nil {
		return nil, at.refuse("%s", err)
	}
	return v, nil
}

// list takes a single value for a list of one.
func (c coercion) list(t *ast.Type, v any, at *place) (any, error) {
	list, ok := v.([]any)
	if !ok {
		one, err := c.value(t.Elem, v, at)
		return []any{one}, err
	}
	if err := c.checkLength(t, len(list), at); err != nil {
		return nil, err
	}
	coerced := make([]any, len(list))
	for i, element := range list {
		at := at.element(i)
		v, err := c.value(t.Elem, element, &at)
		if err != nil {
			return nil, err
		}
		coerced[i] = v
	}
	return coerced, nil
}

// object leaves it to the generated code to put defaults in.
func (c coercion) object(def *ast.Definition, v any, at *place) (any, error) {
	given, ok := v.(map[string]any)
	if !ok {
		return nil, at.refuse("it must be an object, a %s", def.Name)
	}
	if err := at.enter(def); err != nil {
		return nil, err
	}
	for name := range given {
		if def.Fields.ForName(name) == nil {
			return nil, at.refuse("%s has no member %.60q", def.Name, name)
		}
	}
	coerced := make(map[string]any, len(given))
	for _, f := range def.Fields {
		at := at.member(f.Name)
		v, ok := given[f.Name]
		switch {
		case ok:
			v, err := c.value(f.Type, v, &at)
			if err != nil {
				return nil, err
			}
			coerced[f.Name] = v
		case f.Type.NonNull && f.DefaultValue == nil:
			return nil, at.refuse("a value of the type %s is needed", f.Type)
		}
	}
	if def.Directives.ForName("oneOf") != nil {
		if len(coerced) != 1 {
			return nil, at.refuse("it must have exactly one member")
		}
		for name, v := range coerced {
			if v == nil {
				at := at.member(name)
				return nil, at.refuse("it must not be null")
			}
		}
	}
	return coerced, nil
}

// scalarValue coerces one of the scalars.
func scalarValue(name string, v any) (any, error) {
	switch name {
	case "Int":
		if n, ok := asInt32(v); ok {
			return n, nil
		}
		return nil, &scalar.Error{Scalar: name, Reason: "it must be an integer of 32 bits"}
	case "Float":
		return scalar.UnmarshalFloat(v)
	case "ID":
		return scalar.UnmarshalID(v)
	case "String":
		if s, ok := v.(string); ok {
			return s, nil
		}
		return nil, &scalar.Error{Scalar: name, Reason: "it must be a string"}
	case "Boolean":
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, &scalar.Error{Scalar: name, Reason: "it must be true or false"}
	}
	return v, scalar.Check(name, v)
}

// asInt32 takes a whole number however JSON writes it: 5, 5.0 and 5e0 are the
// same number there.
func asInt32(v any) (int64, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := number.Float64() // exact for all of 32 bits
	if err != nil || f != math.Trunc(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return 0, false
	}
	return int64(f), true
}

// scalarLiterals is a validation rule for what gqlparser leaves unchecked in
// documents: custom scalars, and the 32 bits of Int.
var scalarLiterals = core.Rule{Name: "ScalarLiterals", RuleFunc: func(on *core.Events, report core.AddErrFunc) {
	on.OnValue(func(_ *core.Walker, v *ast.Value) {
		if v.Definition == nil || v.Definition.Kind != ast.Scalar || v.ExpectedType == nil {
			return
		}
		switch {
		case v.Kind == ast.Variable || v.Kind == ast.NullValue:
			return
		case v.Kind == ast.ListValue && v.ExpectedType.Elem != nil:
			return // its elements are looked at one by one
		case v.Kind == ast.IntValue && v.Definition.Name == "Int":
			if _, err := strconv.ParseInt(v.Raw, 10, 32); err != nil {
				report(core.Message("Int cannot represent non 32-bit signed integer value: %.40s", v.Raw), core.At(v.Position))
			}
			return
		}
		value, err := v.Value(nil)
		if err == nil {
			err = scalar.Check(v.Definition.Name, value)
		}
		if err != nil {
			report(core.Message("%s", err.Error()), core.At(v.Position))
		}
	})
}}
