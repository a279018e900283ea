package model

import "github.com/berth-lb/berth/providers"

// Cloud is the table of contents, without what talks to the cloud: every function that
// the program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Name:           "aws",
		Kinds:          []string{CLB, NLB, LBC},
		Classes:        []string{classLBC},
		Capabilities:   kindCapabilities(),
		Annotations:    Annotations(),
		Settings:       settingsOf,
		Config:         ReadConfig,
		Choose:         chooseKind,
		ChooseUnder:    providers.Leaving(chooseKind, reasonToLeave),
		Refers:         actionReferences,
		Reach:          computeReach,
		Becomes:        reachAfter,
		Select:         selectNodes,
		OwnedScope:     ownedScope,
		FoundByName:    foundByName,
		BeforeDelete:   beforeDelete,
		OnDelete:       []string{groupKey.Name, adoptKey.Name},
		Scope:          buildScope,
		ScopeForCreate: scopeForCreate,
		Build:          buildStack,
		Forecast:       forecastSteps,
		KeepServing:    keepServing,
		MatchFound:     matchFound,
		MayWant:        mayWant,
		Rules:          Rules(),
		Flows:          computeFlows,
		Status:         statusOf,
		Outputs:        controllerOutputs(),
		EndpointsIf:    func(c Config) bool { return c.Controller.Serve },
		EndpointsOf:    podsMatter,
		PodsIn:         hasPods,
		Gates:          providers.PodGates{Prefix: gatePrefix, Of: podGates},
		EachRead:       true, // of target health and attributes
	}
}
