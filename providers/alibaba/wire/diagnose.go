package wire

import (
	"context"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
)

const roleFile = "alibaba.json"

// absentID is no identifier of any resource.
const absentID = "berth-doctor-absent"

// Diagnose makes a call without effect for each action of the role that has one, and compares the quotas. RAM evaluates
// no action before it is used.
func (s *Session) Diagnose(ctx context.Context, roles providers.Roles) []providers.Diagnosis {
	return append(s.trials().Diagnose(ctx, roles), s.diagnoseQuotas(ctx)...)
}

// trials declares the call without effect of each action: a list, or a call about a resource that does not exist.
func (s *Session) trials() providers.Trials {
	calls := map[string][]providers.Trial{}
	add := func(run func(context.Context, string, url.Values, any) error, absent bool, actions []string) {
		for _, action := range actions {
			params := url.Values{}
			if absent {
				params = absentParams(action)
			}
			calls[permissionOf(action)] = []providers.Trial{{Absent: absent, Call: func(ctx context.Context) error { return run(ctx, action, params, nil) }}}
		}
	}
	add(s.read, false, listActions())
	add(s.read, true, []string{actListGroups, actGetGroup, actGetHealth, actGetList, actListDomains, actListNetServers, actGetNetHealth, actListCertificates, actGetSecurity})
	add(s.write, true, absentActions())
	out := providers.Trials{
		About: "Alibaba Cloud credentials", Role: roleFile, Permissions: providers.RoleActions, Calls: calls,
		Login: "Correct the key or the role of the ServiceAccount that the controller uses; see docs/providers/alibaba.md.",
	}
	// These create a resource by themselves.
	for _, action := range []string{actCreateBalancer, actCreateNet, actCreateServerGroup, actCreateSecurity} {
		out.Untried = append(out.Untried, permissionOf(action))
	}
	return out
}

// listActions returns the lists that need no resource.
func listActions() []string {
	return []string{actListBalancers, actListListeners, actListAddresses, actListInterfaces, actListSecurity, actListNets, actListNetListeners, actListServerGroups, actListJobs}
}

// absentActions returns the writing actions that have no effect without a resource to which they apply.
func absentActions() []string {
	out := []string{
		actDeleteBalancer, actSetName, actSetCharge, actSetSize, actSetInternet, actSetDelete, actSetModify, actTag, actUntag,
		actCreateGroup, actAddServers, actRemoveServers, actSetServers, actDeleteGroup, actStartListener, actDeleteListener,
		actCreateDomain, actSetDomain, actDeleteDomain,
		actDeleteNet, actProtectNet, actSetNet, actSetNetAddress, actSetNetZones, actEnableIPv6, actDisableIPv6, actJoinSecurity, actLeaveSecurity, actAttachPackage, actDetachPackage, actNetTag, actNetUntag,
		actSetServerGroup, actDeleteServerGroup, actAddNetServers, actRemoveNetServers, actSetNetServers,
		actCreateNetListener, actSetNetListener, actStartNetListener, actDeleteNetListener, actAddCertificates, actRemoveCertificates,
		actDeleteSecurity, actSetSecurity, actAddRules, actRemoveRules,
	}
	for _, protocol := range []string{"tcp", "udp", "http", "https"} {
		out = append(out, actCreateListener(protocol), actSetListener(protocol))
	}
	return out
}

// permissionOf returns the action as a role names it.
func permissionOf(action string) string { return strings.Replace(action, ".", ":", 1) }

// absentParams names a resource that does not exist by the parameters of all actions, which do not read those of others. NLB
// has a parameter with which nothing is written in any case. Source: API of NLB, DryRun.
func absentParams(action string) url.Values {
	out := url.Values{
		"ResourceType": {"instance"}, "ResourceId.1": {absentID}, "TagKey.1": {"berth"}, "Tag.1.Key": {"berth"}, "Tag.1.Value": {"berth"}, "ListenerPort": {"80"}, "ListenerProtocol": {"tcp"}, "DryRun": {"true"},
	}
	if strings.HasPrefix(action, model.APINet+".") {
		out.Set("ResourceType", "loadbalancer")
	}
	for _, name := range []string{"LoadBalancerId", "VServerGroupId", "DomainExtensionId", "AclId", "SecurityGroupId", "ListenerId", "ServerGroupId", "BandwidthPackageId"} {
		out.Set(name, absentID)
	}
	return out
}
