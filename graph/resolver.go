package graph

// What gqlgen makes is rewritten to call package lean, which says why.
//
//go:generate go tool gqlgen generate
//go:generate go run ./lean/rewrite generated/generated.go

// Resolver is the root of the resolvers. It is empty: what an operation sees
// travels in its context, see package view.
type Resolver struct{}
