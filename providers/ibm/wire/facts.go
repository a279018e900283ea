package wire

import (
	"context"
	"net/http"
	"net/url"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
)

// allSubnets returns the subnets of the region.
func (s *Session) allSubnets(ctx context.Context) ([]model.Subnet, error) {
	s.mu.Lock()
	known := s.subnets
	s.mu.Unlock()
	if len(known.value) > 0 && s.now().Sub(known.at) < factAge {
		return known.value, nil
	}
	docs, err := listAll[subnetDoc](ctx, s, "subnets")
	if err != nil {
		return nil, err
	}
	var out []model.Subnet
	for _, d := range docs {
		out = append(out, model.Subnet{ID: d.ID, Name: d.Name, CIDR: d.CIDR, Zone: d.Zone.Name, VPC: d.VPC.Name})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subnets = aged[[]model.Subnet]{out, s.now()}
	return out, nil
}

// resourceGroup returns the id of the configured resource group. An account that may not see
// a group gets an empty list.
func (s *Session) resourceGroup(ctx context.Context) (string, error) {
	select {
	case s.asking <- struct{}{}: // Services that are created together ask once
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return "", &fault.Fault{Meaning: fault.Unavailable, Text: "stopped before it was sent", Err: ctx.Err()}
	}
	s.mu.Lock()
	known := s.group
	s.mu.Unlock()
	if known.value != "" && s.now().Sub(known.at) < factAge {
		return known.value, nil
	}
	var found struct {
		Resources []nameDoc `json:"resources"`
	}
	r := request{method: http.MethodGet, url: s.manager + "/v2/resource_groups", query: url.Values{"account_id": {s.config.Account}, "name": {s.config.ResourceGroup}}}
	if _, err := s.read(ctx, r, &found); err != nil {
		return "", err
	}
	if n := len(found.Resources); n != 1 {
		return "", &fault.Fault{
			Meaning: fault.Denied, Text: "provider.g2ResourceGroupName of the cloud configuration: no resource group " + s.config.ResourceGroup + " is visible to the API key",
			Helps: "correct the name, or give the API key the platform role Viewer on the resource group",
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.group = aged[string]{found.Resources[0].ID, s.now()}
	return s.group.value, nil
}
