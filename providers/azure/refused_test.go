package azure_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
	simazure "github.com/berth-lb/berth/test/sim/azure"
)

// TestRefused is what a policy does to Services of every kind.
func TestRefused(t *testing.T) {
	login(t)
	props.Refused(t, fresh(simazure.SeedOptions{Nodes: 6}), cases())
}
