package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:           "openstack",
		Kinds:          []string{Octavia},
		Capabilities:   Capabilities(),
		Annotations:    Annotations(),
		Settings:       Settings,
		Config:         ReadConfig,
		Choose:         Choose,
		Reach:          Reach,
		Becomes:        Becomes,
		Select:         SelectNodes,
		OwnedScope:     OwnedScope,
		FoundByName:    foundByName,
		ProvenByNodes:  true,
		OnDelete:       OnDelete(),
		Scope:          Scope,
		ScopeForCreate: ScopeForCreate,
		Build:          Build,
		KeepServing:    KeepServing,
		MayWant:        MayWant,
		Rules:          Rules(),
		Flows:          Flows,
		Status:         Addresses,
		Outputs:        Outputs(),
	}
}
