package wire

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/oci/model"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createBalancer creates a load balancer with all parts of the step in one call, and waits
// until it has its addresses.
func createBalancer(c *change, spec model.Balancer) plan.Outcome {
	s, p := c.Session, productOf(c)
	body := balancerBody(c, p, spec)
	var made balancerDoc
	header, err := s.post(c, p.api, request{method: http.MethodPost, path: p.balancers, body: body}, &made)
	if err != nil {
		return kit.Failed(explainShape(invalidIfMissing(err), spec))
	}
	shown, err := s.settled(c.Ctx, p, header, awaited{to: created, compartment: spec.Compartment, id: made.ID, name: spec.Name})
	if err != nil {
		return plan.Outcome{Err: err, Sent: plan.MaybeSent}
	}
	id := shown.ID
	s.recordPlaces(shown)
	found := balancerSpec(p.Product, shown)
	spec.Addresses, spec.Reserved, spec.Subnets = found.Addresses, found.Reserved, found.Subnets
	o := c.Created(id, stack.Name, spec)
	for _, r := range c.Step.With {
		r.ID, r.Proof = nameOfPart(r), stack.Derived
		o.Parts = append(o.Parts, r)
	}
	return o
}

// explainShape adds the shape's part to a refusal: a limit that is reached for this
// shape alone, or an unknown name.
func explainShape(err error, spec model.Balancer) error {
	f, ok := err.(*fault.Fault) //nolint:errorlint // the table of errors made it
	if !ok || spec.Shape == "" {
		return err
	}
	switch {
	case f.Meaning == fault.Quota && spec.Shape != flexible && !ofParts(f.Text):
		return f.With(f.Meaning, "; the shape "+spec.Shape+" is not given to newer tenancies: ask for "+model.ShapeAdvice())
	case f.Meaning == fault.Invalid && strings.Contains(f.Text, "shape"):
		return f.With(f.Meaning, "; it is asked for by "+model.ShapeKey())
	}
	return err
}

// ofParts reports whether a limit applies to the parts of a load balancer.
func ofParts(limit string) bool {
	return strings.Contains(limit, "listener") || strings.Contains(limit, "backend")
}

// nameOfPart is the identifier of something in a load balancer.
func nameOfPart(r stack.Resource) string {
	switch spec := r.Spec.(type) {
	case model.BackendSet:
		return spec.Name
	case model.Listener:
		return spec.Name
	case model.RuleSet:
		return spec.Name
	case model.Certificate:
		return spec.Name
	}
	return r.Key.Name
}

// balancerBody is a whole load balancer as the API takes it.
// Sources: CreateLoadBalancerDetails and CreateNetworkLoadBalancerDetails.
func balancerBody(c *change, p *product, spec model.Balancer) map[string]any {
	sets, listeners, ruleSets, certificates := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	for _, r := range c.Step.With {
		switch part := r.Spec.(type) {
		case model.BackendSet:
			sets[part.Name] = model.SetCodec(p.Product).Create(part, nil)
		case model.Listener:
			listener := model.ListenerCodec(p.Product).Create(part, func(set stack.Ref) string { return set.To.Name })
			if p.Name == model.NLB {
				listener["name"] = part.Name
			}
			listeners[part.Name] = listener
		case model.RuleSet:
			ruleSets[part.Name] = map[string]any{"items": json.RawMessage(part.Items)}
		case model.Certificate:
			certificates[part.Name] = model.CertificateCodec().Create(part, nil)
		}
	}
	body := map[string]any{
		"compartmentId": spec.Compartment, "displayName": spec.Name, "isPrivate": spec.Private, "backendSets": sets, "listeners": listeners,
		"networkSecurityGroupIds": groupsOf(c, spec), "freeformTags": orEmpty(spec.Freeform), "definedTags": json.RawMessage(cmp.Or(spec.Defined, "{}")),
	}
	also := func(is bool, field string, value any) {
		if is {
			body[field] = value
		}
	}
	var reserved []idDoc
	for _, id := range spec.Reserved {
		reserved = append(reserved, idDoc{id})
	}
	also(len(reserved) > 0, "reservedIps", reserved)
	if p.Name == model.LB {
		body["subnetIds"], body["shapeName"], body["ipMode"] = spec.Subnets, spec.Shape, spec.Version
		also(spec.Shape == flexible, "shapeDetails", bandwidthDoc{spec.Least, spec.Most})
		also(len(ruleSets) > 0, "ruleSets", ruleSets)
		also(len(certificates) > 0, "certificates", certificates)
		return body
	}
	body["subnetId"], body["nlbIpVersion"] = spec.Subnets[0], spec.Version
	also(spec.Assigned != "", "assignedPrivateIpv4", spec.Assigned)
	also(spec.Assigned6 != "", "assignedIpv6", spec.Assigned6)
	return body
}

func orEmpty(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}

// groupsOf are the groups that a load balancer is in, with the Service's own.
func groupsOf(c *change, spec model.Balancer) []string {
	out := append([]string{}, spec.Groups...)
	if !spec.Own.IsZero() {
		out = append(out, c.Batch.ID(c.Step, spec.Own))
	}
	slices.Sort(out)
	return out
}

func updateShape(c *change, spec model.Balancer) plan.Outcome {
	body := map[string]any{"shapeName": spec.Shape}
	if spec.Shape == flexible {
		body["shapeDetails"] = bandwidthDoc{spec.Least, spec.Most}
	}
	return c.Updated(spec, explainShape(writePart(c, http.MethodPut, body, "updateShape"), spec))
}

func updateGroups(c *change, spec model.Balancer) plan.Outcome {
	return c.Updated(spec, invalidIfMissing(writePart(c, http.MethodPut, map[string]any{"networkSecurityGroupIds": groupsOf(c, spec)}, "networkSecurityGroups")))
}

func updateVersion(c *change, spec model.Balancer) plan.Outcome {
	return c.Updated(spec, writePart(c, http.MethodPut, map[string]any{"nlbIpVersion": spec.Version}))
}

func deleteBalancer(c *change) plan.Outcome {
	return kit.Deleted(writePart(c, http.MethodDelete, nil))
}

// createPart creates a named part of a load balancer.
func createPart(c *change, name string, spec stack.Spec, collection string, body any) plan.Outcome {
	if err := writePart(c, http.MethodPost, body, collection); err != nil {
		return kit.Failed(err)
	}
	return c.Created(name, stack.Derived, spec)
}

func createSet(c *change, spec model.BackendSet) plan.Outcome {
	body := model.SetCodec(productOf(c).Product).Create(spec, nil)
	body["name"] = spec.Name
	return createPart(c, spec.Name, spec, "backendSets", body)
}

func updateSet(c *change, spec model.BackendSet) plan.Outcome {
	return c.Updated(spec, writePart(c, http.MethodPut, model.SetCodec(productOf(c).Product).Replace(spec, nil), "backendSets", c.Step.Target.ID))
}

func createListener(c *change, spec model.Listener) plan.Outcome {
	body := model.ListenerCodec(productOf(c).Product).Create(spec, c.Resolve)
	body["name"] = spec.Name
	return createPart(c, spec.Name, spec, "listeners", body)
}

func updateListener(c *change, spec model.Listener) plan.Outcome {
	body := model.ListenerCodec(productOf(c).Product).Replace(spec, c.Resolve)
	return c.Updated(spec, writePart(c, http.MethodPut, body, "listeners", c.Step.Target.ID))
}

func createRuleSet(c *change, spec model.RuleSet) plan.Outcome {
	return createPart(c, spec.Name, spec, "ruleSets", map[string]any{"name": spec.Name, "items": json.RawMessage(spec.Items)})
}

func updateRuleSet(c *change, spec model.RuleSet) plan.Outcome {
	return c.Updated(spec, writePart(c, http.MethodPut, map[string]any{"items": json.RawMessage(spec.Items)}, "ruleSets", c.Step.Target.ID))
}

func createCertificate(c *change, spec model.Certificate) plan.Outcome {
	return createPart(c, spec.Name, spec, "certificates", model.CertificateCodec().Create(spec, nil))
}
