package azure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestLetterCase: Azure compares identifiers and enumerations in any letter case and answers some of them in another one
// than documented. The portal writes the protocol of a security rule as TCP.
// Source: hashicorp/terraform-provider-azurerm#16092; Azure/azure-cli#8283.
func TestLetterCase(t *testing.T) {
	enumerations := []string{
		"access", "direction", "protocol", "loadDistribution", "privateIPAddressVersion", "privateIPAllocationMethod",
		"publicIPAddressVersion", "publicIPAllocationMethod",
	}
	changes := map[string]func(name, text string) string{
		"enumerations-upper": func(name, text string) string {
			return caseOf(slices.Contains(enumerations, name) || text == "Standard", text, strings.ToUpper)
		},
		"enumerations-lower": func(name, text string) string {
			return caseOf(slices.Contains(enumerations, name) || text == "Standard", text, strings.ToLower)
		},
		"identifiers-upper": func(_, text string) string {
			return caseOf(strings.HasPrefix(text, "/subscriptions/"), text, strings.ToUpper)
		},
		"identifiers-lower": func(_, text string) string {
			return caseOf(strings.HasPrefix(text, "/subscriptions/"), text, strings.ToLower)
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			props.RunRewritten(t, newSubject(simazure.SeedOptions{Nodes: 6}), propsCases(), sim.ChangeTexts(change))
		})
	}
}

// caseOf returns a text, if it applies in another letter case.
func caseOf(applies bool, text string, change func(string) string) string {
	if applies {
		return change(text)
	}
	return text
}
