package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:          "openstack",
			Kinds:         []string{Octavia},
			Capabilities:  Capabilities(),
			FoundByName:   foundByName,
			ProvenByNodes: true,
			OnDelete:      OnDelete(),
			Rules:         Rules(),
			Flows:         Flows,
			Outputs:       Outputs(),
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Settings: Settings,
			Config:   ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose:  Choose,
			Judge:   Judge,
			Reach:   Reach,
			Becomes: Becomes,
			Select:  SelectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope:     OwnedScope,
			Scope:          Scope,
			ScopeForCreate: ScopeForCreate,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			Build:       Build,
			KeepServing: KeepServing,
			MayWant:     MayWant,
			Status:      Addresses,
		},
	}
}
