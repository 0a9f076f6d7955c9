// Package schemas holds documents against the published schemas of the formats
// that we write or ship samples for. Only tests import it: neither a schema nor
// a validator is part of the program. NOTICE.md says where each schema comes
// from.
package schemas
