// Package preview computes what a plan does to traffic before it runs: it performs the
// steps one after another on a copy of the observed stack, and compares the flows after
// each of them. It assumes that the cloud accepts every step, and that steps run in the
// order of the plan.
package preview
