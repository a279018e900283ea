package wire

import (
	"slices"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

func negPath(zone, name string) string { return "zones/" + zone + "/networkEndpointGroups/" + name }

// createNEG creates an endpoint group and fills it. If that fails half-way the group
// exists nevertheless; the next plan sees what is missing, and reports why it cannot be
// added.
func createNEG(c *change, spec model.NEG) plan.Outcome {
	path := negPath(spec.Zone, spec.Name)
	err := writeAndWait(c.Ctx, c.Session, c.negAPI.Insert, &computepb.InsertNetworkEndpointGroupRequest{
		Zone: spec.Zone, NetworkEndpointGroupResource: &computepb.NetworkEndpointGroup{
			Name: &spec.Name, Description: optionalText(spec.Description), NetworkEndpointType: new(computepb.NetworkEndpointGroup_GCE_VM_IP.String()),
			Network: optionalText(c.urlOf(spec.Network)), Subnetwork: optionalText(c.urlOf(spec.Subnet)),
		},
	})
	if err != nil {
		return kit.Failed(err)
	}
	c.points.Set(path, []model.Endpoint{})
	refused, err := c.attach(path, spec.Endpoints)
	if err != nil {
		spec.Endpoints = nil
		return c.Created(path, stack.Description, spec)
	}
	spec.Endpoints = slices.DeleteFunc(slices.Clone(spec.Endpoints), func(e model.Endpoint) bool {
		return slices.ContainsFunc(refused, func(r plan.Refusal) bool { return r.Member == any(e) })
	})
	o := c.Created(path, stack.Description, spec)
	o.Refused = refused
	return o
}

func deleteNEG(c *change) plan.Outcome {
	path := c.ID()
	c.points.Forget(path)
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.negAPI.Delete, &computepb.DeleteNetworkEndpointGroupRequest{Zone: model.ZoneOf(path), NetworkEndpointGroup: model.LastOf(path)}))
}

func attachEndpoints(c *change) plan.Outcome {
	add, _ := plan.Members[model.Endpoint](c.Step)
	refused, err := c.attach(c.ID(), add)
	return c.memberOutcome(refused, err)
}

// memberOutcome is that of a step that adds to or removes from a set.
func (c *change) memberOutcome(refused []plan.Refusal, err error) plan.Outcome {
	if err != nil {
		o := kit.Failed(err)
		o.Refused = refused
		return o
	}
	o := c.Updated(c.Step.Target.Spec, nil)
	o.Refused = refused
	return o
}

// attach adds endpoints; endpoints that the cloud refuses are left out by name.
func (c *change) attach(neg string, endpoints []model.Endpoint) ([]plan.Refusal, error) {
	var refused []plan.Refusal
	for chunk := range slices.Chunk(endpoints, model.NegEndpointsPerCall) {
		bad, err := kit.SplitAmong(&c.doubts.suspects, neg, chunk, model.Endpoint.Name, alreadyExists, func(part []model.Endpoint) error {
			err := writeAndWait(c.Ctx, c.Session, c.negAPI.AttachNetworkEndpoints, &computepb.AttachNetworkEndpointsNetworkEndpointGroupRequest{
				Zone: model.ZoneOf(neg), NetworkEndpointGroup: model.LastOf(neg),
				NetworkEndpointGroupsAttachEndpointsRequestResource: &computepb.NetworkEndpointGroupsAttachEndpointsRequest{NetworkEndpoints: wireEndpoints(part)},
			})
			c.doubts.note(err)
			c.negWritten(neg, part, nil, err)
			return err
		})
		refused = append(refused, bad...)
		if err != nil && !fault.Is(err, fault.Exists) {
			return refused, err
		}
	}
	return refused, nil
}

// detachEndpoints removes endpoints. If the cloud reports one of them as unknown, the
// group is read, and the existing ones are removed.
func detachEndpoints(c *change) plan.Outcome {
	_, remove := plan.Members[model.Endpoint](c.Step)
	neg := c.ID()
	err := c.detach(neg, remove)
	for try := 0; try < mergeTries && (fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid)); try++ {
		var there []model.Endpoint
		if there, err = c.endpointsOf(c.Ctx, neg); fault.Is(err, fault.NotFound) {
			return c.memberOutcome(nil, nil) // with the group all its endpoints are deleted
		}
		if err == nil {
			err = c.detach(neg, slices.DeleteFunc(slices.Clone(remove), func(e model.Endpoint) bool { return !slices.Contains(there, e) }))
		}
	}
	return c.memberOutcome(nil, err)
}

func (c *change) detach(neg string, endpoints []model.Endpoint) error {
	for chunk := range slices.Chunk(endpoints, model.NegEndpointsPerCall) {
		err := writeAndWait(c.Ctx, c.Session, c.negAPI.DetachNetworkEndpoints, &computepb.DetachNetworkEndpointsNetworkEndpointGroupRequest{
			Zone: model.ZoneOf(neg), NetworkEndpointGroup: model.LastOf(neg),
			NetworkEndpointGroupsDetachEndpointsRequestResource: &computepb.NetworkEndpointGroupsDetachEndpointsRequest{NetworkEndpoints: wireEndpoints(chunk)},
		})
		c.negWritten(neg, nil, chunk, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// negWritten notes what a call has done to a group; after a failed call the members are
// unknown.
func (c *change) negWritten(neg string, added, removed []model.Endpoint, err error) {
	if err != nil {
		c.points.Forget(neg)
		return
	}
	c.points.Changed(neg, editMembers(model.Endpoint.Compare, added, removed))
}

func wireEndpoints(list []model.Endpoint) []*computepb.NetworkEndpoint {
	out := make([]*computepb.NetworkEndpoint, 0, len(list))
	for _, e := range list {
		out = append(out, &computepb.NetworkEndpoint{Instance: new(e.Instance), IpAddress: optionalText(e.IP)})
	}
	return out
}
