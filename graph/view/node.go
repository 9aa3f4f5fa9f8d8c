package view

// Node is the schema's interface of what can be fetched again by its id.
type Node interface {
	ID() string
	isNode()
}

func (*Incident) isNode()        {}
func (*ActionItem) isNode()      {}
func (*Org) isNode()             {}
func (*RecurrenceChain) isNode() {}
func (*term) isNode()            {}
