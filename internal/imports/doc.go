// Package imports contains only tests, which enforce the architecture: which packages may import
// which, and which packages are pure.
package imports
