package model

import "github.com/berth-lb/berth/providers"

// Cloud is the table of contents, without what talks to the cloud: every function that
// the program calls, in the order in which it calls them for a Service.
func Cloud() providers.Cloud[Config, *Facts] {
	return providers.Cloud[Config, *Facts]{
		Traits: providers.Traits{
			Name:         "aws",
			Kinds:        []string{CLB, NLB, LBC},
			Classes:      []string{classLBC},
			Capabilities: kindCapabilities(),
			FoundByName:  foundByName,
			OnDelete:     []string{groupKey.Name, adoptKey.Name},
			MatchFound:   matchFound,
			Rules:        Rules(),
			Flows:        computeFlows,
			Outputs:      controllerOutputs(),
			EachRead:     true, // of target health and attributes
		},
		Annotations: Annotations(),
		Setup: providers.Setup[Config]{
			Settings: settingsOf,
			Config:   ReadConfig,
		},
		RequestFuncs: providers.RequestFuncs[Config]{
			Choose:      chooseKind,
			ChooseUnder: providers.Leaving(chooseKind, reasonToLeave),
			Refers:      actionReferences,
			Reach:       computeReach,
			Becomes:     reachAfter,
			Select:      selectNodes,
		},
		PlaceFuncs: providers.PlaceFuncs[Config]{
			OwnedScope:     ownedScope,
			Scope:          buildScope,
			ScopeForCreate: scopeForCreate,
		},
		StackFuncs: providers.StackFuncs[Config, *Facts]{
			BeforeDelete: beforeDelete,
			Build:        buildStack,
			Forecast:     forecastSteps,
			KeepServing:  keepServing,
			MayWant:      mayWant,
			Status:       statusOf,
		},
		PodFuncs: providers.PodFuncs[Config]{
			EndpointsIf: func(c Config) bool { return c.Controller.Serve },
			EndpointsOf: podsMatter,
			PodsIn:      hasPods,
			Gates:       providers.PodGates{Prefix: gatePrefix, Of: podGates},
		},
	}
}
