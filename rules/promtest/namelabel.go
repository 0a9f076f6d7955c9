package promtest

// nameLabel is the label that holds the name of a metric.
const nameLabel = "__name__"
