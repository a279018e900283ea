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
		Traits: providers.Traits{
			Name:         "azure",
			Kinds:        []string{Public, Internal},
			Capabilities: kindCapabilities(),
			FoundByName:  foundByName,
			OnDelete:     []string{groupKey.Name, linkGroupKey.Name},
			MatchFound:   matchFound,
			Rules:        Rules(),
			Flows:        computeFlows,
			Outputs:      providers.Outputs{Finalizers: []string{finalizerPods}},
			NamedMembers: true,
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Settings: settingsOf,
			Config:   ReadConfig,
			Labels:   labelsThatPlace,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose: chooseKind,
			Judge:  judgeNew,
			Reach:  computeReach,
			Select: selectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope: OwnedScope,
			Scope:      buildScope,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			Build:       buildStack,
			Forecast:    forecastRules,
			KeepServing: keepServing,
			MayWant:     mayWant,
			Status:      statusOf,
		},
		PodFuncs: providers.PodFuncs[Config]{
			EndpointsIf: func(c Config) bool { return len(c.Multi) > 0 || c.PodIP() },
			EndpointsOf: func(c Config, svc *corev1.Service) bool { return c.PodIP() || nodeports.LocalOnly(svc) },
		},
	}
}
