// Package official pins the official controller of Azure,
// kubernetes-sigs/cloud-provider-azure: go.mod's tool line names its main package.
//
// It is a module of its own, apart even from the test that runs it, because the
// program needs older versions of nearly everything. No newer release resolves as a
// module.
package official
