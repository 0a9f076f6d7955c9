// Package fleet says what many bundles have in common. Reduce makes a small
// record of a bundle's report as soon as it is done, so that memory does not
// grow with the number of bundles; partials carry records from shard to shard;
// Merge joins them in any order, any number of times, to the same result; View
// draws the picture of the fleet from records alone, and the writers tell it.
// The package is pure: bytes in, bytes out.
package fleet
