package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:         "azure",
		Kinds:        []string{Public, Internal},
		Capabilities: kindCapabilities(),
		Annotations:  Annotations(),
		Settings:     settingsOf,
		Config:       ReadConfig,
		Choose:       chooseKind,
		Reach:        computeReach,
		Select:       selectNodes,
		OwnedScope:   OwnedScope,
		FoundByName:  foundByName,
		OnDelete:     []string{groupKey.Name, linkGroupKey.Name},
		Scope:        buildScope,
		Build:        buildStack,
		Forecast:     forecastRules,
		KeepServing:  keepServing,
		MatchFound:   matchFound,
		MayWant:      mayWant,
		Rules:        Rules(),
		Status:       statusOf,
		Flows:        computeFlows,
		Outputs:      providers.Outputs{Finalizers: []string{finalizerPods}},
		EndpointsIf:  func(c Config) bool { return len(c.Multi) > 0 || c.PodIP() },
		EndpointsOf:  func(c Config, svc *corev1.Service) bool { return c.PodIP() || nodeports.LocalOnly(svc) },
		Labels:       labelsThatPlace,

		NamedMembers: true,
	}
}
