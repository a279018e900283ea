// Package tencent simulates the part of Tencent Cloud that Cloud Load Balancers need, over HTTP: the
// CLB API 2018-03-17 with load balancers, listeners, rules, targets and tasks.
//
// Calls are signed with TC3-HMAC-SHA256, which is verified. Refusals have status 200. Every write is a
// task, and its load balancer refuses other writes until the task has ended. All objects are documents
// in one store.
//
// Start at [New].
package tencent
