// Package schemas validates documents against the published schemas of the formats that we write or
// ship samples for. It is imported only by tests: neither a schema nor a validator is part of the
// program. NOTICE.md states the origin of each schema.
package schemas
