package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:         "gce",
			Kinds:        []string{TargetPool, NetLB, InternalIG, InternalNEG},
			Capabilities: kindCapabilities(),
			Classes:      []string{classExternal, classInternal, classExternalLegacy, classInternalLegacy},
			FoundByName:  foundByName,
			MatchFound:   matchFound,
			Rules:        Rules(),
			Flows:        computeFlows,
			Outputs:      claimedOutputs(),
			NamedMembers: true,
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Config: ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose: chooseKind,
			Judge:  judgeNew,
			Reach:  computeReach,
			Select: selectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope:     OwnedScope,
			Scope:          Scope,
			ScopeForCreate: scopeForCreate,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			Build:       buildStack,
			KeepServing: keepServing,
			MayWant:     mayWant,
			Status:      statusOf,
		},
		PodFuncs: providers.PodFuncs[Config]{
			Endpoints:   true,
			EndpointsOf: func(_ Config, svc *corev1.Service) bool { return podsMatter(svc) },
		},
	}
}
