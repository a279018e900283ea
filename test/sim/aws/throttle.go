package aws

import "github.com/berth-lb/berth/test/sim"

// RealThrottle gives buckets like those of the real services, for
// Control.Throttle.Set; a cloud starts without any. The numbers for reads are
// documented, those for ELB's writes are the client-side defaults of the AWS
// load balancer controller, which stays below the real ones.
// Source: EC2 developer guide, request throttling; Elastic Load Balancing API
// throttling; kubernetes-sigs/aws-load-balancer-controller:pkg/aws/throttle/defaults.go.
func RealThrottle() []sim.Bucket {
	var out []sim.Bucket
	for _, service := range []string{"elb", "elbv2"} {
		out = append(out,
			sim.Bucket{Name: service + "-register", Service: service, Operations: []string{"Register*", "Deregister*"}, Capacity: 20, Refill: 4},
			sim.Bucket{Name: service + "-describe", Service: service, Operations: []string{"Describe*"}, Capacity: 40, Refill: 10},
			sim.Bucket{Name: service + "-change", Service: service, Capacity: 20, Refill: 3},
		)
	}
	return append(out,
		sim.Bucket{Name: "ec2-describe", Service: "ec2", Operations: []string{"Describe*", "Get*"}, Capacity: 100, Refill: 20},
		sim.Bucket{Name: "ec2-change", Service: "ec2", Capacity: 50, Refill: 5},
	)
}
