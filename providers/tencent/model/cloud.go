package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without the session: every function that the program calls, in the order in
// which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:         "tencent",
			Kinds:        []string{CLB},
			Capabilities: Capabilities(),
			OnDelete:     OnDelete(),
			MatchFound:   MatchFound,
			Rules:        Rules(),
			Flows:        Flows,
			Outputs:      providers.Outputs{Annotations: []string{outID, outIPv6, outRegion}},
			EachRead:     true,
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Config: ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose: Choose,
			Refers: Refers,
			Judge:  Judge,
			Reach:  Reach,
			Select: SelectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope: OwnedScope,
			Scope:      Scope,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			Build:       Build,
			KeepServing: KeepServing,
			MayWant:     MayWant,
			Status:      Addresses,
		},
		PodFuncs: providers.PodFuncs[Config]{
			Fallback:    FallbackOf,
			Endpoints:   true,
			EndpointsOf: NeedsEndpoints,
			PodsIn:      HasPods,
		},
	}
}
