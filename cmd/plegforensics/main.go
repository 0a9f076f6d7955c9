// Command plegforensics reconstructs what the kubelet's Pod Lifecycle Event
// Generator did from the files in a support bundle.
package main

func main() {}
