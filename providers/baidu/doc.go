// Package baidu serves Services with application load balancers (BLB) of Baidu AI Cloud. Start at [Cloud].
package baidu
