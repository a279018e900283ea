// Package vap renders the closed part of a policy file as ValidatingAdmissionPolicies: namespaces,
// classes, annotations and internal load balancers. The API server enforces them without a webhook
// and refuses what it cannot judge. It does no I/O; start at [Render].
//
// A policy of the API server knows neither the configuration of the cloud nor what exists in it. So
// it may refuse what the controller would serve, and never permits what the controller refuses.
package vap
