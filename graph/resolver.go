package graph

//go:generate go run ./direct/generate

// Resolver is the root of the resolvers. It is empty: what an operation sees
// travels in its context, see package view.
type Resolver struct{}
