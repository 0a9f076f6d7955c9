// Package audit compares the pod lifecycle events that the reference PLEG must have
// produced, given the runtime's log, with those that the kubelet logged.
package audit
