package wire

import (
	"context"
	"net/http"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/openstack/model"
)

// unlimited is the quota of a project without a limit. Source: Octavia API reference, quotas.
const unlimited = -1

// diagnoseQuotas compares the quotas of the project in Octavia with what it has. Members of a
// project may read its quotas, unless access rules of the application credential leave them out.
func (s *Session) diagnoseQuotas(ctx context.Context) []providers.Diagnosis {
	unknown := func(cause string) []providers.Diagnosis {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, "quotas", cause, "Look at them with: openstack loadbalancer quota show, openstack quota show")}
	}
	login, ok := s.balancer.GetAuthResult().(interface {
		ExtractProject() (*tokens.Project, error)
	})
	if !ok {
		return unknown("the login does not name its project")
	}
	project, err := login.ExtractProject()
	if err != nil || project == nil {
		return unknown("the login does not name its project")
	}
	var answer struct {
		Quota map[string]*float64 `json:"quota"`
	}
	if err := s.read(ctx, s.request(http.MethodGet, "lbaas/quotas", project.ID), &answer); err != nil {
		return unknown(err.Error())
	}
	var out []providers.Diagnosis
	for _, kind := range []struct {
		name string
		have func() (int, error)
	}{
		{"loadbalancer", func() (int, error) { return countOf(s.listBalancers(ctx)) }},
		{"listener", func() (int, error) { return countOf(listItems(ctx, s, model.ListenerCodec(), nil)) }},
		{"pool", func() (int, error) { return countOf(listItems(ctx, s, model.PoolCodec(), nil)) }},
		{"healthmonitor", func() (int, error) { return countOf(listItems(ctx, s, model.MonitorCodec(), nil)) }},
	} {
		most := answer.Quota[kind.name]
		if most == nil || *most == unlimited {
			continue
		}
		have, err := kind.have()
		if err != nil {
			return unknown(err.Error())
		}
		out = append(out, providers.WithinQuota(kind.name, have, int(*most)))
	}
	if len(out) == 0 {
		return []providers.Diagnosis{{Code: providers.CheckQuota, Result: providers.Fine, About: "quotas", State: "Octavia sets no limit"}}
	}
	return out
}

// countOf returns the number of entries of a list that was read.
func countOf[T any](list []T, err error) (int, error) { return len(list), err }
