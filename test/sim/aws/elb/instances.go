package elb

import (
	"regexp"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type instanceList struct{ Instances []registration }

type changeInstancesInput struct {
	Instances []registration `required:"true"`
	ofBalancer
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)

func unknownInstance(id string) error {
	if !instanceID.MatchString(id) {
		return query.Errorf("InvalidInstance", "Invalid id: \"%s\"", id)
	}
	return query.Errorf("InvalidInstance", "Could not find EC2 instance %s.", id)
}

func registerInstances(c *call, lb *loadBalancer, in changeInstancesInput) (any, error) {
	all, there := slices.Clone(lb.Instances), map[string]bool{}
	for _, r := range all {
		there[r.ID] = true
	}
	for _, r := range in.Instances {
		id := r.ID
		in, ok := c.Dir.Instance(id)
		switch {
		case !ok || in.State == "terminated" || in.State == "shutting-down":
			return nil, unknownInstance(id)
		case lb.VPC != "" && in.VPC != lb.VPC:
			return nil, query.Errorf("InvalidInstance", "EC2 instance %s is not in the same VPC as ELB.", id)
		}
		if !there[id] {
			there[id] = true
			all = append(all, registration{ID: id, At: c.now})
		}
	}
	if len(all) > c.opt.Limits.Instances {
		return nil, query.Errorf("InvalidInstance", "Exceeded the limit of %d registered instances", c.opt.Limits.Instances)
	}
	lb.Instances = all
	return instanceList{all}, nil
}

func deregisterInstances(c *call, lb *loadBalancer, in changeInstancesInput) (any, error) {
	for _, r := range in.Instances {
		if _, ok := c.Dir.Instance(r.ID); !ok && !lb.registered(r.ID) {
			return nil, unknownInstance(r.ID)
		}
	}
	lb.Instances = slices.DeleteFunc(slices.Clone(lb.Instances), func(r registration) bool {
		return slices.ContainsFunc(in.Instances, func(o registration) bool { return o.ID == r.ID })
	})
	return instanceList{lb.Instances}, nil
}

type instanceState struct {
	ID          string `xml:"InstanceId"`
	State       string
	ReasonCode  string
	Description string
}

type describeInstanceHealthInput struct {
	Instances []registration
	ofBalancer
}

// describeInstanceHealth tells running instances from others: nothing listens here that
// a check could ask.
// Source: Elastic Load Balancing API 2012-06-01, DescribeInstanceHealth and InstanceState;
// Classic Load Balancers guide, "troubleshoot: registering instances".
func describeInstanceHealth(c *call, lb *loadBalancer, in describeInstanceHealthInput) (any, error) {
	asked := in.Instances
	if len(asked) == 0 {
		asked = lb.Instances
	}
	var out struct{ InstanceStates []instanceState }
	for _, r := range asked {
		if !lb.registered(r.ID) {
			return nil, unknownInstance(r.ID)
		}
		s := instanceState{ID: r.ID, State: "InService", ReasonCode: "N/A", Description: "N/A"}
		if in, _ := c.Dir.Instance(r.ID); in.State != "running" {
			s = instanceState{ID: r.ID, State: "OutOfService", ReasonCode: "Instance", Description: "Instance is in stopped state."}
		}
		out.InstanceStates = append(out.InstanceStates, s)
	}
	return out, nil
}
