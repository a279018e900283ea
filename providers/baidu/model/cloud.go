package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without the session: every function that the program calls, in the order in
// which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:         "baidu",
			Kinds:        []string{AppBLB, BLB},
			Capabilities: Capabilities(),
			OnDelete:     OnDelete(),
			MatchFound:   MatchFound,
			Rules:        Rules(),
			Flows:        Flows,
			EachRead:     true,
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Config: ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose: Choose,
			Judge:  Judge,
			Reach:  Reach,
			Select: SelectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope: OwnedScope,
			Scope:      Scope,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			BeforeDelete: BeforeDelete,
			Build:        Build,
			KeepServing:  KeepServing,
			MayWant:      MayWant,
			Status:       Addresses,
		},
		PodFuncs: providers.PodFuncs[Config]{
			Endpoints:   true,
			EndpointsOf: NeedsEndpoints,
			PodsIn:      HasPods,
		},
	}
}
