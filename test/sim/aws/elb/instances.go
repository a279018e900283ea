package elb

import (
	"regexp"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type instanceList struct {
	Instances query.Members[registration]
}

func (c *call) instanceIDs() []string {
	var ids []string
	c.Each("Instances", func(e *lbkit.Reader) { ids = append(ids, e.Str("InstanceId")) })
	return ids
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]{8,17}$`)

func unknownInstance(id string) error {
	if !instanceID.MatchString(id) {
		return query.Errorf("InvalidInstance", "Invalid id: \"%s\"", id)
	}
	return query.Errorf("InvalidInstance", "Could not find EC2 instance %s.", id)
}

func registerInstances(c *call) (any, error) {
	c.Required("Instances")
	ids := c.instanceIDs()
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	all, there := slices.Clone(lb.Instances), map[string]bool{}
	for _, r := range all {
		there[r.ID] = true
	}
	for _, id := range ids {
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
	return instanceList{query.Members[registration]{Member: all}}, nil
}

func deregisterInstances(c *call) (any, error) {
	c.Required("Instances")
	ids := c.instanceIDs()
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, ok := c.Dir.Instance(id); !ok && !lb.registered(id) {
			return nil, unknownInstance(id)
		}
	}
	lb.Instances = slices.DeleteFunc(slices.Clone(lb.Instances), func(r registration) bool { return slices.Contains(ids, r.ID) })
	return instanceList{query.Members[registration]{Member: lb.Instances}}, nil
}

type instanceState struct {
	InstanceId  string //nolint:revive // The name is the element of the answer.
	State       string
	ReasonCode  string
	Description string
}

// describeInstanceHealth tells running instances from others: nothing listens here that
// a check could ask.
// Source: Elastic Load Balancing API 2012-06-01, DescribeInstanceHealth and InstanceState;
// Classic Load Balancers guide, "troubleshoot: registering instances".
func describeInstanceHealth(c *call) (any, error) {
	asked := c.instanceIDs()
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	var out struct {
		InstanceStates query.Members[instanceState]
	}
	if len(asked) == 0 {
		for _, r := range lb.Instances {
			asked = append(asked, r.ID)
		}
	}
	for _, id := range asked {
		if !lb.registered(id) {
			return nil, unknownInstance(id)
		}
		s := instanceState{InstanceId: id, State: "InService", ReasonCode: "N/A", Description: "N/A"}
		if in, _ := c.Dir.Instance(id); in.State != "running" {
			s = instanceState{InstanceId: id, State: "OutOfService", ReasonCode: "Instance", Description: "Instance is in stopped state."}
		}
		out.InstanceStates.Member = append(out.InstanceStates.Member, s)
	}
	return out, nil
}
