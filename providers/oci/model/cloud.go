package model

import "github.com/berth-lb/berth/providers"

// Cloud is the provider without what talks to the cloud: every function that the
// program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:           "oci",
		Kinds:          []string{LB, NLB},
		Capabilities:   Capabilities(),
		Annotations:    Annotations(),
		Settings:       Settings,
		Config:         ReadConfig,
		Choose:         Choose,
		ChooseUnder:    providers.Leaving(Choose, Left),
		Refers:         Refers,
		Reach:          Reach,
		Becomes:        Becomes,
		Select:         SelectNodes,
		OwnedScope:     OwnedScope,
		OnDelete:       OnDelete(),
		Scope:          Scope,
		ScopeForCreate: ScopeForCreate,
		Build:          Build,
		KeepServing:    KeepServing,
		MayWant:        MayWant,
		Rules:          Rules(),
		Flows:          computeFlows,
		Status:         Addresses,
	}
}
