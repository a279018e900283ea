package wire

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/meter"
)

// Session is an open connection to one account in one region. It is safe for concurrent use.
type Session struct {
	config     model.Config
	bases      map[string]string // addresses of the APIs, without a path
	identity   *identity
	client     *http.Client
	limits     *kit.Limits
	now        func() time.Time
	agent      string
	locks      *kit.Locks
	tokens     *kit.Tokens
	process    string // scope of tokens that are this process's alone
	lists      *kit.Known[string, model.List]
	interfaces *kit.Known[string, string]
	network
}

// How long access control lists and network interfaces are cached, and how long missing ones. A pod
// keeps its interface.
const (
	listAge          = time.Minute
	interfaceAge     = time.Hour
	interfaceMissing = 20 * time.Second
)

// callTimeout bounds a call.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base, timeout of its clients.
const callTimeout = 20 * time.Second

// tokenAge is how long it is remembered which idempotency tokens were answered.
const tokenAge = 24 * time.Hour

// Variables of the environment that the official controller reads.
// Source: kubernetes/cloud-provider-alibaba-cloud:pkg/provider/alibaba/base.
const (
	envKeyID    = "ACCESS_KEY_ID"
	envSecret   = "ACCESS_KEY_SECRET" //nolint:gosec // the name of a variable
	envScheme   = "ALICLOUD_CLIENT_SCHEME"
	envMetadata = "METADATA_ENDPOINT"
	envPods     = "SERVICE_FORCE_BACKEND_ENI"
)

// Open returns a session. It makes no call, unless the configuration has no region, VPC or vSwitch: then
// the metadata server is asked. The error names the setting at fault.
func Open(ctx context.Context, c model.Config, env providers.Env) (providers.Session[*model.Facts], model.Config, error) {
	if force := os.Getenv(envPods); force != "" {
		c.PodBackends = force == "true"
	}
	c, err := completeConfig(ctx, c)
	if err != nil {
		return nil, c, err
	}
	s := &Session{config: c, bases: endpointsOf(c), now: env.Now, agent: env.UserAgent, locks: kit.NewLocks(), process: uuid.NewString()}
	if s.now == nil {
		s.now = time.Now
	}
	l := login{client: &http.Client{Transport: kit.Transport(), Timeout: callTimeout}, metadata: metadataServer(), sts: s.bases[model.APIToken], now: s.now}
	s.identity = identityOf(c, l)
	s.client = &http.Client{Transport: meter.New(kit.Transport(), env.Calls, meter.Language{Name: nameOf, Refusal: refusalOf})}
	s.limits = kit.NewLimits(kit.LimitOptions{Buckets: bucketsOf(allActions()), Share: env.Share, CallTimeout: callTimeout, Now: s.now, Waited: env.Waited})
	// The answer to a token that was used before names the same load balancer, so none is refused.
	s.lists = kit.NewKnown[string, model.List](listAge, listAge/2, nil)
	s.interfaces = kit.NewKnown[string, string](interfaceAge, interfaceMissing, nil)
	s.tokens = kit.NewTokens(tokenAge, s.now, func(err error) bool { return fault.Is(err, fault.Exists) })
	s.removed, s.listed, s.missing = map[string]string{}, map[string]int{}, map[string]time.Time{}
	s.jobs = kit.NewSettling(s.jobStates, func(state string) bool { return state == jobProcessing }).Usually(usualJob).InPages(jobsAtOnce)
	s.active, s.netSeen = kit.NewSettling(s.netStates, func(state string) bool { return state == netPending || state == "Configuring" }).Usually(usualCreation).InPages(idsNet), map[string]netDoc{}
	return s, c, nil
}

// actionRate is how many calls of one action of SLB and NLB a second and at once are made.
const actionRate = 15

// bucketsOf returns the rates of actions: the cloud counts each one. Where none is known, refusals slow the calls
// of the action down.
func bucketsOf(actions []string) []kit.Bucket {
	var out []kit.Bucket
	for _, action := range actions {
		b := kit.Bucket{Name: action}
		if api, _, _ := strings.Cut(action, "."); api == model.APIBalancer || api == model.APINet {
			b.Rate, b.Burst = actionRate, actionRate
		}
		out = append(out, b)
	}
	return out
}

// envSTS is the host of STS, as the webhook of ACK sets it.
// Source: Alibaba Cloud, "ack-pod-identity-webhook".
const envSTS = "ALIBABA_CLOUD_STS_ENDPOINT"

// metadataTimeout bounds the call of a machine that may be no instance.
const metadataTimeout = 5 * time.Second

// metadataServer returns the address of the metadata server of an instance.
func metadataServer() string {
	given := os.Getenv(envMetadata)
	switch {
	case given == "":
		return "http://100.100.100.200"
	case !strings.Contains(given, "://"):
		given = "http://" + given
	}
	return strings.TrimSuffix(given, "/")
}

// endpointsOf returns the addresses of the APIs: the configured ones, those of the environment, or
// those of the region for callers in a VPC.
func endpointsOf(c model.Config) map[string]string {
	scheme := "https://"
	if strings.EqualFold(os.Getenv(envScheme), "http") {
		scheme = "http://"
	}
	out := map[string]string{}
	for _, api := range []string{model.APIBalancer, model.APIMachine, model.APINetwork, model.APIToken, model.APINet, model.APIQuota} {
		if given := c.Endpoints[api]; given != "" {
			out[api] = strings.TrimSuffix(given, "/")
			continue
		}
		host := api + "-vpc." + c.Region + ".aliyuncs.com"
		if api == model.APIQuota {
			host = api + ".aliyuncs.com" // one for all regions
		}
		given := os.Getenv(strings.ToUpper(api) + "_ENDPOINT")
		if api == model.APIToken {
			given = cmp.Or(given, os.Getenv(envSTS))
		}
		if given != "" {
			if _, rest, ok := strings.Cut(given, "://"); ok {
				given = rest
			}
			host, _, _ = strings.Cut(given, "/")
		}
		out[api] = scheme + host
	}
	return out
}

// Actions that are used, after the names of their APIs.
const (
	actListBalancers  = "slb.DescribeLoadBalancers"
	actListListeners  = "slb.DescribeLoadBalancerListeners"
	actListGroups     = "slb.DescribeVServerGroups"
	actGetGroup       = "slb.DescribeVServerGroupAttribute"
	actCreateBalancer = "slb.CreateLoadBalancer"
	actDeleteBalancer = "slb.DeleteLoadBalancer"
	actSetName        = "slb.SetLoadBalancerName"
	actSetCharge      = "slb.ModifyLoadBalancerInstanceChargeType"
	actSetSize        = "slb.ModifyLoadBalancerInstanceSpec"
	actSetInternet    = "slb.ModifyLoadBalancerInternetSpec"
	actSetDelete      = "slb.SetLoadBalancerDeleteProtection"
	actSetModify      = "slb.SetLoadBalancerModificationProtection"
	actTag            = "slb.TagResources"
	actUntag          = "slb.UntagResources"
	actCreateGroup    = "slb.CreateVServerGroup"
	actAddServers     = "slb.AddVServerGroupBackendServers"
	actRemoveServers  = "slb.RemoveVServerGroupBackendServers"
	actSetServers     = "slb.SetVServerGroupAttribute"
	actDeleteGroup    = "slb.DeleteVServerGroup"
	actStartListener  = "slb.StartLoadBalancerListener"
	actDeleteListener = "slb.DeleteLoadBalancerListener"
	actGetHealth      = "slb.DescribeHealthStatus"
	actGetList        = "slb.DescribeAccessControlListAttribute"
	actListDomains    = "slb.DescribeDomainExtensions"
	actCreateDomain   = "slb.CreateDomainExtension"
	actSetDomain      = "slb.SetDomainExtensionAttribute"
	actDeleteDomain   = "slb.DeleteDomainExtension"
	actListAddresses  = "vpc.DescribeEipAddresses"
	actListInterfaces = "ecs.DescribeNetworkInterfaces"

	actListNets           = "nlb.ListLoadBalancers"
	actListNetListeners   = "nlb.ListListeners"
	actListServerGroups   = "nlb.ListServerGroups"
	actListNetServers     = "nlb.ListServerGroupServers"
	actGetNetHealth       = "nlb.GetListenerHealthStatus"
	actListCertificates   = "nlb.ListListenerCertificates"
	actListJobs           = "nlb.ListAsynJobs"
	actCreateNet          = "nlb.CreateLoadBalancer"
	actDeleteNet          = "nlb.DeleteLoadBalancer"
	actProtectNet         = "nlb.UpdateLoadBalancerProtection"
	actSetNet             = "nlb.UpdateLoadBalancerAttribute"
	actSetNetAddress      = "nlb.UpdateLoadBalancerAddressTypeConfig"
	actSetNetZones        = "nlb.UpdateLoadBalancerZones"
	actEnableIPv6         = "nlb.EnableLoadBalancerIpv6Internet"
	actDisableIPv6        = "nlb.DisableLoadBalancerIpv6Internet"
	actJoinSecurity       = "nlb.LoadBalancerJoinSecurityGroup"
	actLeaveSecurity      = "nlb.LoadBalancerLeaveSecurityGroup"
	actAttachPackage      = "nlb.AttachCommonBandwidthPackageToLoadBalancer"
	actDetachPackage      = "nlb.DetachCommonBandwidthPackageFromLoadBalancer"
	actNetTag             = "nlb.TagResources"
	actNetUntag           = "nlb.UntagResources"
	actCreateServerGroup  = "nlb.CreateServerGroup"
	actSetServerGroup     = "nlb.UpdateServerGroupAttribute"
	actDeleteServerGroup  = "nlb.DeleteServerGroup"
	actAddNetServers      = "nlb.AddServersToServerGroup"
	actRemoveNetServers   = "nlb.RemoveServersFromServerGroup"
	actSetNetServers      = "nlb.UpdateServerGroupServersAttribute"
	actCreateNetListener  = "nlb.CreateListener"
	actSetNetListener     = "nlb.UpdateListenerAttribute"
	actStartNetListener   = "nlb.StartListener"
	actDeleteNetListener  = "nlb.DeleteListener"
	actAddCertificates    = "nlb.AssociateAdditionalCertificatesWithListener"
	actRemoveCertificates = "nlb.DisassociateAdditionalCertificatesWithListener"
	actListSecurity       = "ecs.DescribeSecurityGroups"
	actGetSecurity        = "ecs.DescribeSecurityGroupAttribute"
	actCreateSecurity     = "ecs.CreateSecurityGroup"
	actDeleteSecurity     = "ecs.DeleteSecurityGroup"
	actSetSecurity        = "ecs.ModifySecurityGroupAttribute"
	actAddRules           = "ecs.AuthorizeSecurityGroup"
	actRemoveRules        = "ecs.RevokeSecurityGroup"
)

// netActions returns the actions of network load balancers and their security groups.
func netActions() []string {
	return []string{
		actListNets, actListNetListeners, actListServerGroups, actListNetServers, actGetNetHealth, actListCertificates, actListJobs, actCreateNet, actDeleteNet, actProtectNet, actSetNet, actSetNetAddress,
		actSetNetZones, actEnableIPv6, actDisableIPv6, actJoinSecurity, actLeaveSecurity, actAttachPackage, actDetachPackage, actNetTag, actNetUntag, actCreateServerGroup, actSetServerGroup,
		actDeleteServerGroup, actAddNetServers, actRemoveNetServers, actSetNetServers, actCreateNetListener, actSetNetListener, actStartNetListener, actDeleteNetListener, actAddCertificates,
		actRemoveCertificates, actListSecurity, actGetSecurity, actCreateSecurity, actDeleteSecurity, actSetSecurity, actAddRules, actRemoveRules,
	}
}

// allActions returns the classes of calls: the cloud counts each action.
func allActions() []string {
	out := append(netActions(), []string{
		actListBalancers, actListListeners, actListGroups, actGetGroup, actCreateBalancer, actDeleteBalancer, actSetName, actSetCharge, actSetSize, actSetInternet, actSetDelete,
		actSetModify, actTag, actUntag, actCreateGroup, actAddServers, actRemoveServers, actSetServers, actDeleteGroup, actStartListener, actDeleteListener,
		actGetHealth, actGetList, actListDomains, actCreateDomain, actSetDomain, actDeleteDomain, actListAddresses, actListInterfaces,
	}...)
	for _, protocol := range []string{"tcp", "udp", "http", "https"} {
		out = append(out, actCreateListener(protocol), actSetListener(protocol))
	}
	return out
}

func actCreateListener(protocol string) string {
	return "slb.CreateLoadBalancer" + strings.ToUpper(protocol) + "Listener"
}

func actSetListener(protocol string) string {
	return "slb.SetLoadBalancer" + strings.ToUpper(protocol) + "ListenerAttribute"
}
