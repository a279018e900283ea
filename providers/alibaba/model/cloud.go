package model

import (
	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without the session: every function that the program calls, in the
// order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:         "alibaba",
		Kinds:        []string{CLB, NLB},
		Classes:      []string{ClassNLB},
		Capabilities: Capabilities(),
		Annotations:  Annotations(),
		Config:       ReadConfig,
		Settings:     Settings,
		Choose:       Choose,
		ChooseUnder:  ChooseUnder,
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
		Outputs:      providers.Outputs{Labels: []string{labelBalancer, labelSecurity, labelHash}, Finalizers: []string{finalizerCLB, finalizerNLB}},
		Endpoints:    true,
		EndpointsOf:  followsPods,
		PodsIn:       podsIn,
		Fallback:     fallbackOf,
		EachRead:     true,
	}
}
