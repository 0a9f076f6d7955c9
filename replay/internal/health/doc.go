// Package health determines when PLEG was healthy, when it was unhealthy, and for which time nothing proves
// either. Relists, episodes, reports, metrics and complete silence each yield claims; one merger layers them.
package health
