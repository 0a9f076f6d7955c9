// Package health tells when PLEG was healthy, when it was not, and of which time nothing
// proves either: claims from relists, episodes, reports, metrics and complete silence,
// which one merger lays over each other.
package health
