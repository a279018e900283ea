package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without the session: every function that the program calls, in the order in
// which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:         "baidu",
		Kinds:        []string{AppBLB},
		Capabilities: Capabilities(),
		Annotations:  Annotations(),
		Config:       ReadConfig,
		Choose:       Choose,
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
		Endpoints:    true,
		EndpointsOf:  NeedsEndpoints,
		PodsIn:       HasPods,
		EachRead:     true,
	}
}
