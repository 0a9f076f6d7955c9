package tsdb

// nameLabel is the label that holds the metric name.
const nameLabel = "__name__"
