package alerts

// nameLabel is the label with the name of a metric.
const nameLabel = "__name__"
