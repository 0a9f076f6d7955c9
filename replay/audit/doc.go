// Package audit holds the pod lifecycle events that the reference PLEG must have
// produced, by the runtime's own account, against those that the kubelet logged.
package audit
