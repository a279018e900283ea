package wire

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createNetListener creates a listener, which runs at once, and adds its additional certificates.
func createNetListener(c *change, spec model.NetListener) plan.Outcome {
	params := url.Values{"LoadBalancerId": {c.Parent()}, "ListenerProtocol": {spec.Protocol}, "ListenerDescription": {spec.Description}, "ServerGroupId": {c.Batch.ID(c.Step, spec.Group)}}
	params.Set("ListenerPort", strconv.Itoa(int(spec.Port)))
	if spec.End != 0 {
		params.Set("ListenerPort", "0")
		params.Set("StartPort", strconv.Itoa(int(spec.Port)))
		params.Set("EndPort", strconv.Itoa(int(spec.End)))
	}
	settingParams(params, spec.Settings)
	var made struct {
		ID string `json:"ListenerId"`
	}
	if err := writeNet(c, actCreateNetListener, params, &made); err != nil {
		return kit.Failed(err)
	}
	if err := changeCertificates(c, actAddCertificates, made.ID, spec.More); err != nil {
		return failedLater(err)
	}
	return c.Created(made.ID, stack.Derived, spec)
}

func updateNetListener(c *change, spec model.NetListener) plan.Outcome {
	found, _ := c.Step.Found.(model.NetListener)
	params := url.Values{"ListenerId": {c.ID()}, "ListenerDescription": {spec.Description}, "ServerGroupId": {c.Batch.ID(c.Step, spec.Group)}}
	settingParams(params, spec.Settings)
	err := writeNet(c, actSetNetListener, params, nil)
	spec.Settings, spec.Running, spec.More = overlaySettings(found.Settings, spec.Settings), found.Running, found.More
	return c.Updated(spec, err)
}

func startNetListener(c *change, spec model.NetListener) plan.Outcome {
	return c.Updated(spec, writeNet(c, actStartNetListener, url.Values{"ListenerId": {c.ID()}}, nil))
}

// updateMore adds new additional certificates and removes others.
func updateMore(c *change, spec model.NetListener) plan.Outcome {
	found, _ := c.Step.Found.(model.NetListener)
	added := slices.DeleteFunc(slices.Clone(spec.More), func(id string) bool { return slices.Contains(found.More, id) })
	removed := slices.DeleteFunc(slices.Clone(found.More), func(id string) bool { return slices.Contains(spec.More, id) })
	if err := changeCertificates(c, actAddCertificates, c.ID(), added); err != nil {
		return failedAfter(err, len(added) > certificatesAtOnce)
	}
	if err := changeCertificates(c, actRemoveCertificates, c.ID(), removed); err != nil {
		return failedAfter(err, len(added) > 0)
	}
	return c.Updated(spec, nil)
}

func changeCertificates(c *change, action, listener string, ids []string) error {
	for some := range slices.Chunk(ids, certificatesAtOnce) {
		if err := writeNet(c, action, idsParams("AdditionalCertificateIds", some, "ListenerId", listener), nil); err != nil {
			return err
		}
	}
	return nil
}

func deleteNetListener(c *change) plan.Outcome {
	return kit.Deleted(writeNet(c, actDeleteNetListener, url.Values{"ListenerId": {c.ID()}}, nil))
}
