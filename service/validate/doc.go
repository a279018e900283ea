// Package validate answers the webhook by which users learn what is wrong with a Service, and what a
// change does to its load balancer, at the time they apply it. It judges fields and annotations
// alone and calls neither cloud nor cluster; start at [Handler].
package validate
