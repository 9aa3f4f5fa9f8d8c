// Package view gives the types of the GraphQL schema their Go counterparts,
// as they look in one operation: each value holds on to the Operation, and
// through it to one state of the store, and works out its fields when they are
// asked for.
//
// # Binding
//
// gqlgen binds a field to a method or struct field of the same name. Methods
// take the field's arguments and no context: gqlgen then runs them one after
// another in the goroutine that writes the object, instead of starting one
// for each. What lists show comes from the index; the methods that need the
// whole record (long texts, sources, review) say so by returning an error.
//
// # Paging
//
// Connections load a page when its edges, nodes or page info are asked for,
// and count when the total is. A cursor names a place in an order, not an
// element: it stays good when elements come and go. See cursor.go for its
// bytes, nodeid.go for those of ids.
package view
