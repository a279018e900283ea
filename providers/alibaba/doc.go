// Package alibaba serves Services with Classic Load Balancers of Alibaba Cloud. Start at [Cloud].
package alibaba
