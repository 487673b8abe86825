package embed

// The ways to make one vector of a model's vectors of tokens.
const (
	poolMean  = "mean" // their mean
	poolFirst = "cls"  // the first one
)
