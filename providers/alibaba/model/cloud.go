package model

import (
	"github.com/berth-lb/berth/providers"
)

// Cloud is the provider without the session: every function that the program calls, in the
// order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:         "alibaba",
			Kinds:        []string{CLB, NLB},
			Classes:      []string{ClassNLB},
			Capabilities: Capabilities(),
			OnDelete:     OnDelete(),
			MatchFound:   MatchFound,
			Rules:        Rules(),
			Flows:        Flows,
			Outputs:      officialOutputs(),
			EachRead:     true,
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Config:   ReadConfig,
			Settings: Settings,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose:      Choose,
			ChooseUnder: ChooseUnder,
			Judge:       Judge,
			Reach:       Reach,
			Select:      SelectNodes,
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
			EndpointsOf: followsPods,
			PodsIn:      podsIn,
			Virtual:     selectVirtual,
			Gates:       providers.PodGates{Prefix: gatePrefix, Of: podGates},
			Fallback:    fallbackOf,
		},
	}
}
