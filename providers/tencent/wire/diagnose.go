package wire

import (
	"context"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/tencent/model"
)

const roleFile = "tencent.json"

// Identifiers of resources that do not exist, in the form of existing ones.
const (
	absentBalancer = "lb-00000000"
	absentListener = "lbl-00000000"
	absentRule     = "loc-00000000"
	absentTask     = "00000000-0000-4000-8000-000000000000"
)

// Diagnose makes a call without effect for each action of the role that has one, and compares the quotas. CAM evaluates no action
// before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	out := s.trials().Diagnose(ctx, roles)
	for _, region := range append([]string{""}, s.config.OtherRegions()...) {
		out = append(out, s.diagnoseQuotas(ctx, region)...)
	}
	return out
}

// trials declares the call without effect of each action. One action creates a load balancer by itself, and those of tags are applied
// to any resource.
func (s *Session) trials() providers.Trials {
	return providers.Trials{
		About: "Tencent Cloud credentials", Role: roleFile, Permissions: providers.RoleActions, Calls: s.buildTrials(),
		Untried: []string{apiCLB + ":" + actCreateBalancer, "tag:AddResourceTag", "tag:DescribeResourceTagsByResourceIds", "tag:GetTags"},
		Login:   "Correct the keys in the cloud configuration file or the environment; see docs/providers/tencent.md.",
	}
}

// buildTrials returns the call without effect of each action that has one: a list, or a call about a load balancer that does not exist.
func (s *Session) buildTrials() map[string][]providers.Trial {
	none := params{}
	listener := params{"ListenerId": absentListener}
	target := params{"ListenerId": absentListener, "InstanceId": "ins-00000000", "Port": 80, "Weight": 10}
	out := map[string][]providers.Trial{}
	add := func(action string, reads, absent bool, p params) {
		if absent && action != actTask && action != actDeleteBalancer {
			p = mergeParams(p, params{fieldBalancer: absentBalancer})
		}
		call := func(ctx context.Context) error { return s.read(ctx, "", action, p, nil) }
		if !reads {
			call = func(ctx context.Context) error {
				_, err := s.write(ctx, "", action, p, nil)
				return err
			}
		}
		out[apiCLB+":"+action] = []providers.Trial{{Call: call, Absent: absent}}
	}
	add(actListBalancers, true, false, params{"Limit": 1})
	add(actListListeners, true, true, none)
	add(actListTargets, true, true, none)
	add(actTask, true, true, params{"TaskId": absentTask})
	add(actDeleteBalancer, false, true, params{"LoadBalancerIds": []string{absentBalancer}})
	add(actSetBalancer, false, true, params{"LoadBalancerName": "berth-doctor"})
	add(actSetGroups, false, true, params{"SecurityGroups": []string{}})
	add(actCreateListener, false, true, params{"Ports": []int{80}, "Protocol": "TCP"})
	add(actSetListener, false, true, listener)
	add(actDeleteListeners, false, true, params{"ListenerIds": []string{absentListener}})
	add(actCreateRule, false, true, mergeParams(listener, params{"Rules": []params{{"Url": "/"}}}))
	add(actSetRule, false, true, mergeParams(listener, params{"LocationId": absentRule}))
	add(actSetDomain, false, true, mergeParams(listener, params{"Domain": "doctor.invalid"}))
	add(actDeleteRule, false, true, mergeParams(listener, params{"LocationIds": []string{absentRule}}))
	add(actRegister, false, true, params{"Targets": []params{target}})
	add(actDeregister, false, true, params{"Targets": []params{target}})
	add(actSetTargetWeights, false, true, params{"ModifyList": []params{{"ListenerId": absentListener, "Targets": []params{{"InstanceId": "ins-00000000", "Port": 80}}, "Weight": 10}}})
	return out
}

// mergeParams returns the parameters of two sets.
func mergeParams(a, b params) params {
	out := params{}
	for _, some := range []params{a, b} {
		for name, value := range some {
			out[name] = value
		}
	}
	return out
}

// actQuota is needed by the check of quotas alone.
const actQuota = "DescribeQuota"

// diagnoseQuotas compares the quotas of load balancers of a region with what is used.
// Source: CLB API 2018-03-17, DescribeQuota.
func (s *Session) diagnoseQuotas(ctx context.Context, region string) []providers.Diagnosis {
	about := strings.TrimSuffix("quotas in "+region, " in ")
	var answer struct {
		Quotas []struct {
			ID      string `json:"QuotaId"`
			Current *int   `json:"QuotaCurrent"`
			Limit   int    `json:"QuotaLimit"`
		} `json:"QuotaSet"`
	}
	if err := s.read(ctx, region, actQuota, params{}, &answer); err != nil {
		return []providers.Diagnosis{providers.Unchecked(providers.CheckQuota, about, err.Error(), "Allow clb:DescribeQuota to these credentials, and run the command again.")}
	}
	var out []providers.Diagnosis
	for _, q := range answer.Quotas {
		// Quotas of what one load balancer can have come without a number in use.
		if q.Current != nil && strings.HasPrefix(q.ID, "TOTAL_") && strings.HasSuffix(q.ID, "_CLB_QUOTA") {
			out = append(out, providers.WithinQuota(model.IDIn(region, q.ID), *q.Current, q.Limit))
		}
	}
	if len(out) == 0 {
		out = append(out, providers.Unchecked(providers.CheckQuota, about, "the answer has no quota of load balancers", "Look at the quotas of CLB in the console."))
	}
	return out
}
