package aws

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/test/sim"
)

// RealThrottle gives buckets like those of the real services, for
// Control.Throttle.Set; a cloud starts without any.
//
// Elastic Load Balancing documents its bucket for reads, one for each of its two
// APIs. The numbers of its other buckets are the client-side defaults of the AWS
// load balancer controller, which stays below the real ones.
// Source: docs.aws.amazon.com/elasticloadbalancing/latest/userguide/elb-api-throttling.html;
// kubernetes-sigs/aws-load-balancer-controller:pkg/aws/throttle/defaults.go.
//
// EC2 looks at each action by itself, has fewer tokens for some reads that name neither
// a filter nor a page, and for what concerns machines counts them too.
// Source: docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html, request
// token limits and resource token limits.
func RealThrottle() []sim.Bucket {
	var out []sim.Bucket
	for _, service := range []string{"elb", "elbv2"} {
		out = append(out,
			sim.Bucket{Name: service + "-register", Service: service, Operations: []string{"Register*", "Deregister*"}, Capacity: 20, Refill: 4},
			sim.Bucket{Name: service + "-describe", Service: service, Operations: []string{"Describe*"}, Capacity: 40, Refill: 10},
			sim.Bucket{Name: service + "-change", Service: service, Capacity: 20, Refill: 3},
		)
	}
	const machines = "machines"
	return append(out,
		sim.Bucket{Name: "ec2-describe-unfiltered", Service: "ec2", Operations: []string{"*" + unfiltered}, Per: sim.PerOperation, Capacity: 50, Refill: 10},
		sim.Bucket{Name: "ec2-describe", Service: "ec2", Operations: []string{"Describe*", "Get*"}, Per: sim.PerOperation, Capacity: 100, Refill: 20},
		sim.Bucket{Name: "ec2-run", Service: "ec2", Operations: []string{"RunInstances", "StartInstances"}, Per: sim.PerOperation, Capacity: 5, Refill: 2},
		sim.Bucket{Name: "ec2-change", Service: "ec2", Per: sim.PerOperation, Capacity: 50, Refill: 5},
		sim.Bucket{Name: "ec2-machines-run", Layer: machines, Service: "ec2", Operations: []string{"RunInstances", "StartInstances"}, Per: sim.PerOperation, Units: true, Capacity: 1000, Refill: 2},
		sim.Bucket{Name: "ec2-machines-end", Layer: machines, Service: "ec2", Operations: []string{"StopInstances", "TerminateInstances"}, Per: sim.PerOperation, Units: true, Capacity: 1000, Refill: 20},
	)
}

// unfiltered marks the reads with a smaller bucket.
const unfiltered = " unfiltered"

// throttledAs is the operation as the buckets see it.
func throttledAs(service, action string, form url.Values) string {
	if service != "ec2" || form.Has("MaxResults") || form.Has("NextToken") || form.Has("Filter.1.Name") {
		return action
	}
	switch action {
	case "DescribeInstances", "DescribeInstanceStatus", "DescribeNetworkInterfaces", "DescribeSecurityGroups", "DescribeSnapshots", "DescribeSpotInstanceRequests", "DescribeVolumes":
		return action + unfiltered
	}
	return action
}

// countInstances returns the number of instances that a call concerns.
func countInstances(form url.Values) int {
	n, _ := strconv.Atoi(form.Get("MaxCount")) // without a number it is about none
	for name := range form {
		if strings.HasPrefix(name, "InstanceId.") {
			n++
		}
	}
	return n
}
