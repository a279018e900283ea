package wire

import (
	"context"
	"slices"

	compute "cloud.google.com/go/compute/apiv1"
	"cloud.google.com/go/compute/apiv1/computepb"
	"github.com/google/uuid"
	raw "google.golang.org/api/compute/v1"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/gce/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// wireCheck is a check with all its fields; a patch leaves out what did not change.
func wireCheck(spec model.Check) *computepb.HealthCheck {
	return &computepb.HealthCheck{
		Name: &spec.Name, Description: optionalText(spec.Description), Type: new(computepb.HealthCheck_HTTP.String()),
		CheckIntervalSec: orNil(spec.Interval), TimeoutSec: orNil(spec.Timeout),
		HealthyThreshold: orNil(spec.Healthy), UnhealthyThreshold: orNil(spec.Unhealthy),
		HttpHealthCheck: &computepb.HTTPHealthCheck{Port: orNil(spec.Port), RequestPath: optionalText(spec.Path)},
	}
}

// checkMade is the outcome of making a check. A shared one may be there already,
// made by another process: what differs in it the next plan shows.
func (c *change) checkMade(spec model.Check, err error, get func() (model.Check, error)) plan.Outcome {
	if c.shared() && fault.Is(err, fault.Exists) {
		spec, err = get()
	}
	if err != nil {
		return kit.Failed(err)
	}
	return c.Created(c.path(c.Step.ID.Key.Kind, spec.Name), stack.Name, spec)
}

func createCheck(c *change, spec model.Check) plan.Outcome {
	err := writeAndWait(c.Ctx, c.Session, c.checkAPI.Insert, &computepb.InsertHealthCheckRequest{HealthCheckResource: wireCheck(spec)})
	return c.checkMade(spec, err, func() (model.Check, error) {
		found, err := readCall(c.Ctx, c.checkAPI.Get, &computepb.GetHealthCheckRequest{Project: c.config.Project, HealthCheck: spec.Name})
		return checkOf(found), err
	})
}

func createRegionalCheck(c *change, spec model.Check) plan.Outcome {
	err := writeAndWait(c.Ctx, c.Session, c.regionCheckAPI.Insert, &computepb.InsertRegionHealthCheckRequest{HealthCheckResource: wireCheck(spec)})
	return c.checkMade(spec, err, func() (model.Check, error) {
		found, err := readCall(c.Ctx, c.regionCheckAPI.Get, &computepb.GetRegionHealthCheckRequest{Project: c.config.Project, Region: c.config.Region, HealthCheck: spec.Name})
		return checkOf(found), err
	})
}

func updateCheck(c *change, spec model.Check) plan.Outcome {
	return c.Updated(spec, writeAndWait(c.Ctx, c.Session, c.checkAPI.Patch, &computepb.PatchHealthCheckRequest{HealthCheck: spec.Name, HealthCheckResource: wireCheck(spec)}))
}

func updateRegionalCheck(c *change, spec model.Check) plan.Outcome {
	return c.Updated(spec, writeAndWait(c.Ctx, c.Session, c.regionCheckAPI.Patch, &computepb.PatchRegionHealthCheckRequest{HealthCheck: spec.Name, HealthCheckResource: wireCheck(spec)}))
}

func deleteCheck(c *change) plan.Outcome {
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.checkAPI.Delete, &computepb.DeleteHealthCheckRequest{HealthCheck: c.name()}))
}

func deleteRegionalCheck(c *change) plan.Outcome {
	return kit.Deleted(writeAndWait(c.Ctx, c.Session, c.regionCheckAPI.Delete, &computepb.DeleteRegionHealthCheckRequest{HealthCheck: c.name()}))
}

func wireHTTPCheck(spec model.Check) *raw.HttpHealthCheck {
	return &raw.HttpHealthCheck{
		Name: spec.Name, Description: spec.Description, Port: int64(spec.Port), RequestPath: spec.Path,
		CheckIntervalSec: spec.Interval, TimeoutSec: spec.Timeout, HealthyThreshold: spec.Healthy, UnhealthyThreshold: spec.Unhealthy,
	}
}

// sendHTTP sends a call of the collection that has another library.
func (c *change) sendHTTP(call func(ctx context.Context, token string) (*raw.Operation, error)) error {
	return c.send(c.Ctx, func(ctx context.Context) (*computepb.Operation, error) {
		op, err := call(ctx, uuid.NewString())
		if err != nil {
			return nil, err
		}
		return operationOf(op), nil
	})
}

// operationOf is an operation of the older library in the newer one's form.
func operationOf(op *raw.Operation) *computepb.Operation {
	status := computepb.Operation_Status(computepb.Operation_Status_value[op.Status])
	out := &computepb.Operation{Name: &op.Name, SelfLink: &op.SelfLink, TargetLink: &op.TargetLink, Status: &status, HttpErrorMessage: &op.HttpErrorMessage}
	if op.HttpErrorStatusCode != 0 {
		out.HttpErrorStatusCode = orNil(op.HttpErrorStatusCode)
	}
	if op.Error != nil {
		out.Error = &computepb.Error{}
		for _, e := range op.Error.Errors {
			out.Error.Errors = append(out.Error.Errors, &computepb.Errors{Code: &e.Code, Message: &e.Message})
		}
	}
	return out
}

func createHTTPCheck(c *change, spec model.Check) plan.Outcome {
	err := c.sendHTTP(func(ctx context.Context, token string) (*raw.Operation, error) {
		return c.httpCheckAPI.Insert(c.config.Project, wireHTTPCheck(spec)).RequestId(token).Context(ctx).Do()
	})
	return c.checkMade(spec, err, func() (model.Check, error) {
		found, err := c.httpCheckAPI.Get(c.config.Project, spec.Name).Context(c.Ctx).Do()
		if err != nil {
			return model.Check{}, faultOf(err, kit.Reading)
		}
		return httpCheckOf(found), nil
	})
}

func updateHTTPCheck(c *change, spec model.Check) plan.Outcome {
	return c.Updated(spec, c.sendHTTP(func(ctx context.Context, token string) (*raw.Operation, error) {
		return c.httpCheckAPI.Patch(c.config.Project, spec.Name, wireHTTPCheck(spec)).RequestId(token).Context(ctx).Do()
	}))
}

func deleteHTTPCheck(c *change) plan.Outcome {
	return kit.Deleted(c.sendHTTP(func(ctx context.Context, token string) (*raw.Operation, error) {
		return c.httpCheckAPI.Delete(c.config.Project, c.name()).RequestId(token).Context(ctx).Do()
	}))
}

// checksExist reports whether a check that the step's shared firewall is for still
// exists, in either scope.
func (c *change) checksExist() (bool, error) {
	checks := model.FirewallChecks(c.Step.ID.Key.Name)
	if slices.ContainsFunc(checks, func(k stack.Key) bool { return k.Kind == model.KindHTTPCheck }) {
		_, err := c.httpCheckAPI.Get(c.config.Project, checks[0].Name).Context(c.Ctx).Do()
		if fault.Is(faultOf(err, kit.Reading), fault.NotFound) {
			return false, nil
		}
		return err == nil, faultOf(err, kit.Reading)
	}
	there := false
	it := c.checkAPI.AggregatedList(c.Ctx, &computepb.AggregatedListHealthChecksRequest{
		Project: c.config.Project, Filter: filterOf([]string{checks[0].Name}),
	}, readOptions()...)
	err := eachComplete(it.Next, func(p compute.HealthChecksScopedListPair) {
		ours := p.Key == scopeGlobal || p.Key == scopesRegions+c.config.Region
		there = there || ours && len(p.Value.GetHealthChecks()) > 0
	})
	return there, err
}
