package wire

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
)

const roleFile = "alibaba.json"

// absentID is no identifier of any resource.
const absentID = "berth-doctor-absent"

// Diagnose makes a call without effect for each action of the role that has one. RAM evaluates no action
// before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	quotas := providers.Unchecked(providers.CheckQuota, "quotas", "the role has no permission to read them", "Look at them with: aliyun quotas ListProductQuotas --ProductCode slb (and nlb)")
	var role struct {
		Statement []struct {
			Action []string `json:"Action"`
		} `json:"Statement"`
	}
	if err := json.Unmarshal(roles[roleFile], &role); err != nil {
		return []providers.Diagnosis{quotas, providers.Unchecked(providers.CheckPermission, roleFile, err.Error(), "")}
	}
	var actions []string
	for _, statement := range role.Statement {
		actions = append(actions, statement.Action...)
	}
	trials := providers.Trials{
		About: "Alibaba Cloud credentials", Role: roleFile, Calls: s.trialsOf,
		Login: "Correct the key or the role of the ServiceAccount that the controller uses; see docs/providers/alibaba.md.",
	}
	return append(trials.Diagnose(ctx, actions), quotas)
}

// trialsOf returns the call without effect of an action: a list, or a call about a resource that does not exist.
// The actions that create a resource by itself have none.
func (s *Session) trialsOf(action string) []providers.Trial {
	action = strings.Replace(action, ":", ".", 1)
	lists := []string{actListBalancers, actListListeners, actListAddresses, actListInterfaces, actListSecurity, actListNets, actListNetListeners, actListServerGroups, actListJobs}
	creates := []string{actCreateBalancer, actCreateNet, actCreateServerGroup, actCreateSecurity}
	api, name, _ := strings.Cut(action, ".")
	reads := isReadAction(name) || strings.HasPrefix(name, "Describe")
	switch {
	case slices.Contains(creates, action):
		return nil
	case slices.Contains(lists, action):
		return []providers.Trial{{Call: func(ctx context.Context) error { return s.read(ctx, action, url.Values{}, nil) }}}
	case reads:
		return []providers.Trial{{Absent: true, Call: func(ctx context.Context) error { return s.read(ctx, action, absentParams(api), nil) }}}
	}
	return []providers.Trial{{Absent: true, Call: func(ctx context.Context) error { return s.write(ctx, action, absentParams(api), nil) }}}
}

// absentParams names a resource that does not exist by the parameters of all actions, which do not read those of others. NLB
// has a parameter with which nothing is written in any case. Source: API of NLB, DryRun.
func absentParams(api string) url.Values {
	out := url.Values{
		"ResourceType": {"instance"}, "ResourceId.1": {absentID}, "TagKey.1": {"berth"}, "Tag.1.Key": {"berth"}, "Tag.1.Value": {"berth"}, "ListenerPort": {"80"}, "ListenerProtocol": {"tcp"}, "DryRun": {"true"},
	}
	if api == model.APINet {
		out.Set("ResourceType", "loadbalancer")
	}
	for _, name := range []string{"LoadBalancerId", "VServerGroupId", "DomainExtensionId", "AclId", "SecurityGroupId", "ListenerId", "ServerGroupId", "BandwidthPackageId"} {
		out.Set(name, absentID)
	}
	return out
}
