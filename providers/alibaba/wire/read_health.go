package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba/model"
	"github.com/berth-lb/berth/stack"
)

// Health of servers, in the words of the APIs. A server whose listener has no health check, or no result yet, is
// unavailable on a Classic Load Balancer, which sends traffic to it.
// Sources: API of SLB, DescribeHealthStatus; API of NLB, GetListenerHealthStatus.
const (
	healthAbnormal = "abnormal"
	healthNormal   = "Normal"
)

// serverHealth is a server in the answer of either API.
type serverHealth struct {
	ID       string `json:"ServerId"`
	Address  string `json:"ServerIp"`
	Port     int32  `json:"ListenerPort"`
	Protocol string `json:"Protocol"`
	Classic  string `json:"ServerHealthStatus"`
	Net      string `json:"Status"`
	Reason   struct {
		Code string `json:"ReasonCode"`
	} `json:"Reason"`
}

// Health implements providers.Examiner: one call for each Classic Load Balancer, and for a network load balancer
// one for its listeners and two for each of them. Load balancers have the members, by the port of the listener.
func (s *Session) Health(ctx context.Context, have *stack.Stack) ([]providers.MemberHealth, error) {
	var out []providers.MemberHealth
	for _, kind := range []struct {
		kind stack.Kind
		read func(context.Context, stack.Owner, stack.Resource) ([]providers.MemberHealth, error)
	}{{model.KindBalancer, s.classicHealth}, {model.KindNetBalancer, s.netHealth}} {
		for _, lb := range have.Of(kind.kind) {
			if lb.ID == "" || lb.Key.Name != "" {
				continue
			}
			found, err := kind.read(ctx, have.Owner, lb)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", lb.Key, err)
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

func (s *Session) classicHealth(ctx context.Context, _ stack.Owner, lb stack.Resource) ([]providers.MemberHealth, error) {
	var answer struct {
		Servers struct {
			All []serverHealth `json:"BackendServer"`
		} `json:"BackendServers"`
	}
	if err := s.read(ctx, actGetHealth, url.Values{"LoadBalancerId": {lb.ID}}, &answer); err != nil {
		return nil, err
	}
	var out []providers.MemberHealth
	for _, d := range answer.Servers.All {
		out = append(out, memberOf(lb.Key, fmt.Sprintf("%d/%s", d.Port, d.Protocol), d.ID, d.Address, d.Classic, d.Classic != healthAbnormal, ""))
	}
	return out, nil
}

// netHealth reads the members of the listeners of the Service. The API names only unhealthy ones.
func (s *Session) netHealth(ctx context.Context, o stack.Owner, lb stack.Resource) ([]providers.MemberHealth, error) {
	listeners, err := pagesOf[netListenerDoc](ctx, s, actListNetListeners, "Listeners", url.Values{"LoadBalancerIds.1": {lb.ID}})
	if err != nil {
		return nil, err
	}
	var out []providers.MemberHealth
	for _, l := range listeners {
		if _, _, own := model.IsNetNameOf(l.Description, o, s.config.ClusterID); !own {
			continue
		}
		found, err := s.listenerHealth(ctx, lb.Key, l)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func (s *Session) listenerHealth(ctx context.Context, of stack.Key, l netListenerDoc) ([]providers.MemberHealth, error) {
	var answer struct {
		Listeners []struct {
			Groups []struct {
				Others []serverHealth `json:"NonNormalServers"`
			} `json:"ServerGroupInfos"`
		} `json:"ListenerHealthStatus"`
	}
	if err := s.read(ctx, actGetNetHealth, url.Values{"ListenerId": {l.ID}}, &answer); err != nil {
		return nil, err
	}
	servers, err := pagesOf[netServerDoc](ctx, s, actListNetServers, "Servers", url.Values{"ServerGroupId": {l.Group}})
	if err != nil {
		return nil, err
	}
	others := map[string]serverHealth{}
	for _, a := range answer.Listeners {
		for _, g := range a.Groups {
			for _, d := range g.Others {
				others[d.ID+" "+d.Address] = d
			}
		}
	}
	port, _ := l.ports()
	var out []providers.MemberHealth
	for _, d := range servers {
		other, unhealthy := others[d.ID+" "+d.Address]
		out = append(out, memberOf(of, fmt.Sprintf("%d/%s", port, strings.ToLower(l.Protocol)), d.ID, d.Address, cmp.Or(other.Net, healthNormal), !unhealthy, other.Reason.Code))
	}
	return out, nil
}

// memberOf returns the health of one server: a pod is identified by its address.
func memberOf(of stack.Key, part, id, address, state string, healthy bool, why string) providers.MemberHealth {
	out := providers.MemberHealth{Of: of, Part: part, Member: cmp.Or(address, id), State: state, Healthy: healthy, Why: why}
	if a, err := netip.ParseAddr(address); err == nil {
		out.Addr = a.Unmap()
	}
	return out
}
