package wire

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/stack"
	"github.com/berth-lb/berth/stack/plan"
)

// createServerGroup creates a server group, and adds its servers when it exists.
func createServerGroup(c *change, spec model.ServerGroup) plan.Outcome {
	var made struct {
		ID  string `json:"ServerGroupId"`
		Job string `json:"JobId"`
	}
	params := url.Values{"ServerGroupName": {spec.Name}, "VpcId": {c.Session.config.VPC}, "Protocol": {spec.Protocol}, "ServerGroupType": {spec.Type}}
	if spec.AnyPort {
		params.Set("AnyPortEnabled", "true")
	}
	for name, value := range map[string]string{"ResourceGroupId": spec.Group, "IpVersionAffinityMode": spec.Affinity} {
		if value != "" {
			params.Set(name, value)
		}
	}
	if spec.IPVersion == "DualStack" {
		params.Set("AddressIPVersion", spec.IPVersion)
	}
	settingParams(params, spec.Settings)
	addTags(params, map[string]string{model.TagOwner: model.DefaultName(c.Step.ID.Owner), model.TagCluster: c.Session.config.ClusterID})
	// Groups come and go with ports, and several of one name are no conflict.
	err := sendCreation(c, c.Session.process+" ", params, func(params url.Values) error { return c.Session.write(c.Ctx, actCreateServerGroup, params, &made) })
	if err != nil {
		return kit.Failed(err)
	}
	if err := c.Session.finishJob(c.Ctx, made.Job); err != nil {
		return failedLater(err)
	}
	refused, err := c.Session.netServers(c, actAddNetServers, made.ID, spec.Name, spec.Servers)
	if err != nil {
		return failedLater(err)
	}
	spec.Affinity = ""
	o := c.Created(made.ID, stack.Tag, spec)
	o.Refused = refused
	return o
}

// netServers makes calls of one action for servers of a group, some at a time, and finds the servers that are
// refused.
func (s *Session) netServers(c *change, action, group, name string, all []model.Server) ([]plan.Refusal, error) {
	var refused []plan.Refusal
	for part := range slices.Chunk(all, serversAtOnce) {
		not, err := kit.Split(part, nil, func(some []model.Server) error {
			params := serverParams(group, name, some)
			if action == actRemoveNetServers { // it takes what tells servers apart
				for i := range some {
					at := "Servers." + strconv.Itoa(i+1) + "."
					params.Del(at + "Weight")
					params.Del(at + "Description")
				}
			}
			return s.changeNet(c.Ctx, group, action, params, nil)
		})
		refused = append(refused, not...)
		if err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// updateNetServers adds new servers, removes unwanted ones, and sets ports and weights, in this order.
func updateNetServers(c *change, spec model.ServerGroup) plan.Outcome {
	found, _ := c.Step.Found.(model.ServerGroup)
	add, remove, set := model.SplitNetServers(spec.Servers, found.Servers)
	s, id := c.Session, c.ID()
	refused, err := s.netServers(c, actAddNetServers, id, spec.Name, add)
	full := fault.Is(err, fault.Quota)
	if err != nil && !full {
		return failedAfter(err, len(add) > serversAtOnce)
	}
	if _, err := s.netServers(c, actRemoveNetServers, id, spec.Name, remove); err != nil && !fault.Is(err, fault.NotFound) {
		return failedAfter(err, len(add) > 0)
	}
	if full && len(remove) > 0 { // the removed ones have made room
		refused, err = s.netServers(c, actAddNetServers, id, spec.Name, add)
	}
	if err != nil {
		return failedAfter(err, len(remove) > 0)
	}
	if _, err := s.netServers(c, actSetNetServers, id, spec.Name, set); err != nil {
		return failedAfter(err, len(add)+len(remove) > 0)
	}
	return c.Members(refused, nil)
}

// updateServerGroup writes the name and settings of a server group.
func updateServerGroup(c *change, spec model.ServerGroup) plan.Outcome {
	found, _ := c.Step.Found.(model.ServerGroup)
	params := url.Values{"ServerGroupId": {c.ID()}, "ServerGroupName": {spec.Name}}
	settingParams(params, spec.Settings)
	err := c.Session.changeNet(c.Ctx, c.ID(), actSetServerGroup, params, nil)
	spec.Settings = overlaySettings(found.Settings, spec.Settings)
	return c.Updated(spec, err)
}

// overlaySettings returns found settings with the desired ones in their place.
func overlaySettings(found, want map[string]string) map[string]string {
	out := maps.Clone(found)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, want)
	return out
}

// deleteServerGroup deletes a server group. From one that has servers of the user only those of the Service are
// removed.
func deleteServerGroup(c *change) plan.Outcome {
	found, _ := c.Step.Found.(model.ServerGroup)
	if found.Shared {
		_, err := c.Session.netServers(c, actRemoveNetServers, c.ID(), found.Name, found.Servers)
		return kit.Deleted(err)
	}
	return kit.Deleted(c.Session.changeNet(c.Ctx, c.ID(), actDeleteServerGroup, url.Values{"ServerGroupId": {c.ID()}}, nil))
}
