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
		in, ok := c.dir.Instance(id)
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
		if _, ok := c.dir.Instance(id); !ok && !lb.registered(id) {
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

func describeInstanceHealth(c *call) (any, error) {
	ids := c.instanceIDs()
	lb, err := c.target()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		for _, r := range lb.Instances {
			ids = append(ids, r.ID)
		}
	}
	var out struct {
		InstanceStates query.Members[instanceState]
	}
	for _, id := range ids {
		in, ok := c.dir.Instance(id)
		if !ok && !lb.registered(id) {
			return nil, unknownInstance(id)
		}
		// The state of terminated instances is not returned; source: API reference.
		if !ok || in.State == "terminated" {
			continue
		}
		out.InstanceStates.Member = append(out.InstanceStates.Member, c.health(lb, id))
	}
	return out, nil
}

func (c *call) health(lb *loadBalancer, id string) instanceState {
	down := func(reason, text string) instanceState { return instanceState{id, "OutOfService", reason, text} }
	in, _ := c.dir.Instance(id)
	i := slices.IndexFunc(lb.Instances, func(r registration) bool { return r.ID == id })
	switch {
	case i < 0:
		return down("Instance", "Instance is not currently registered with the LoadBalancer.")
	case in.State == "stopped" || in.State == "pending":
		return down("Instance", "Instance is in "+in.State+" state.")
	case in.State != "running":
		return down("Instance", "Instance is in stopped state.")
	case !slices.Contains(lb.Zones, in.Zone):
		return down("ELB", "Instance is in the EC2 Availability Zone for which LoadBalancer is not configured to route traffic to.")
	case c.now.Before(lb.Instances[i].At.Add(c.opt.RegisterDelay)):
		return down("ELB", "Instance registration is still in progress.")
	}
	return instanceState{id, "InService", "N/A", "N/A"}
}
