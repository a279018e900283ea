package model

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without the session: every function that the program calls, in the
// order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:         "alibaba",
		Kinds:        []string{CLB},
		Capabilities: Capabilities(),
		Annotations:  Annotations(),
		Config:       ReadConfig,
		Choose:       Choose,
		Left:         Left,
		Reach:        Reach,
		Select:       SelectNodes,
		OwnedScope:   OwnedScope,
		OnDelete:     OnDelete(),
		BeforeDelete: BeforeDelete,
		Scope:        Scope,
		Build:        Build,
		KeepServing:  KeepServing,
		MatchFound:   MatchFound,
		MayWant:      MayWant,
		Rules:        Rules(),
		Flows:        Flows,
		Status:       Addresses,
		Outputs:      providers.Outputs{Labels: []string{labelBalancer, labelHash}, Finalizers: []string{finalizerCLB}},
		Endpoints:    true,
		EndpointsOf:  func(_ Config, svc *corev1.Service) bool { return nodeports.LocalOnly(svc) },
		EachRead:     true,
	}
}
