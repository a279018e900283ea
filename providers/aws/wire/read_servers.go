package wire

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/berth-lb/berth/providers/aws/model"
	"github.com/berth-lb/berth/providers/fault"
)

const (
	// serverAge is how long the ids of a pod are believed: they are in its containers, which
	// never change.
	serverAge = 24 * time.Hour
	// absentServerAge is how long a pod that was not listed is not asked for again.
	absentServerAge = 10 * time.Second
)

// listServers reads the ids of pods for QUIC. Pods that are cached are not asked for
// again.
func (r *vpcRead) listServers() error {
	uids := r.factValues(model.KindPods, model.ByUID)
	if len(uids) == 0 {
		return nil
	}
	var err error
	_, r.from.servers, err = r.facts.servers.Get(r.ctx, r.now(), uids, func(ctx context.Context, unknown []string) (map[string]model.Servers, error) {
		return r.serversBy(ctx, r.factValues(model.KindPods, model.BySelector), unknown)
	})
	if err != nil {
		return fmt.Errorf("pods: %w", err)
	}
	return nil
}

func (s *Session) serversBy(ctx context.Context, selectors, unknown []string) (map[string]model.Servers, error) {
	if s.pods == nil {
		return nil, fault.New(fault.Denied, "%s: needs a cluster to ask for pods", model.QUICKey.Name)
	}
	asked := map[string]bool{}
	for _, uid := range unknown {
		asked[uid] = true
	}
	out := map[string]model.Servers{}
	for _, text := range selectors {
		namespace, encoded, _ := strings.Cut(text, "?")
		labels, err := url.ParseQuery(encoded)
		if err != nil {
			return nil, fault.New(fault.Internal, "selector %q: %v", encoded, err)
		}
		selector := map[string]string{}
		for key := range labels {
			selector[key] = labels.Get(key)
		}
		pods, err := s.pods(ctx, namespace, selector)
		if err != nil {
			return nil, err
		}
		for _, pod := range pods {
			if uid := string(pod.UID); asked[uid] {
				out[uid] = model.ServersOf(pod)
			}
		}
	}
	return out, nil
}
