package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:           "gce",
		Kinds:          []string{TargetPool, NetLB, InternalIG, InternalNEG},
		Capabilities:   kindCapabilities(),
		Classes:        []string{classExternal, classInternal, classExternalLegacy, classInternalLegacy},
		Annotations:    Annotations(),
		Config:         ReadConfig,
		Choose:         chooseKind,
		Reach:          computeReach,
		Select:         selectNodes,
		OwnedScope:     OwnedScope,
		FoundByName:    foundByName,
		Scope:          Scope,
		ScopeForCreate: scopeForCreate,
		Build:          buildStack,
		KeepServing:    keepServing,
		MatchFound:     matchFound,
		MayWant:        mayWant,
		Rules:          Rules(),
		Status:         statusOf,
		Flows:          computeFlows,
		Outputs:        claimedOutputs(),
		Endpoints:      true,
		EndpointsOf:    func(_ Config, svc *corev1.Service) bool { return podsMatter(svc) },

		NamedMembers: true,
	}
}
