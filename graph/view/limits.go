package view

// Bounds of what a request may hold that no server has reason to change.
const (
	// MaxInputDepth is how deep lists and objects in an argument or variable
	// may be nested.
	MaxInputDepth = 64
	// MaxFilterDepth is how deep filters may be nested.
	MaxFilterDepth = 16
	// MaxInputElements is how many elements the lists of a request's variables,
	// or of its document, may have together.
	MaxInputElements = 5000
	// MaxListLength is how many elements one list of a request may have.
	MaxListLength = 1000
	// MaxLanguages is how many languages may be asked for.
	MaxLanguages = maxLanguages
	// MaxOrders is how many keys an order may have.
	MaxOrders = 8
	// MaxWeights is how many weights of vocabularies may be given.
	MaxWeights = 6
	// MaxElements is how many elements the lists of an answer may have together.
	MaxElements = 100_000
)

// MaxInputDepth is how deep lists and objects may be nested.
func (*Limits) MaxInputDepth() int { return MaxInputDepth }

// MaxFilterDepth is how deep filters may be nested.
func (*Limits) MaxFilterDepth() int { return MaxFilterDepth }

// MaxInputElements is how many elements lists may have together.
func (*Limits) MaxInputElements() int { return MaxInputElements }

// MaxListLength is how many elements one list may have.
func (*Limits) MaxListLength() int { return MaxListLength }

// MaxElements is how many elements the lists of an answer may have together.
func (*Limits) MaxElements() int { return MaxElements }
