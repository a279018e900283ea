// Package tencent serves Services with Cloud Load Balancers of Tencent Cloud. Start at [Cloud].
package tencent
