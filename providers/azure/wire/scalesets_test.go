package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-lb/berth/providers/azure/model"
)

// TestWhatIsWrittenOfMachines: of a scale set only what pools are in, and where it is;
// its size, which an autoscaler may be changing, and its health probe stay out.
func TestWhatIsWrittenOfMachines(t *testing.T) {
	const pool = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb/backendAddressPools/kubernetes"
	interfaces := func(pools ...any) []any {
		return []any{map[string]any{"name": "nic", "properties": map[string]any{"primary": true, "ipConfigurations": []any{map[string]any{
			"name": "ip", "properties": map[string]any{"primary": true, memberOf: pools},
		}}}}}
	}
	edge := map[string]any{"name": "losangeles", "type": "EdgeZone"}
	scaleSet := func(mode string, pools ...any) model.Object {
		return model.Object{
			"location": "westus", "extendedLocation": edge, "sku": map[string]any{"name": "Standard_D2", "capacity": 4}, "properties": map[string]any{
				"orchestrationMode": mode, "upgradePolicy": map[string]any{"mode": "Manual"}, "virtualMachineProfile": map[string]any{"networkProfile": map[string]any{
					"networkApiVersion": "2020-11-01", "healthProbe": model.IDObject("/probes/p"), "networkInterfaceConfigurations": interfaces(pools...),
				}},
			},
		}
	}
	wantModel := func(mode string, pools ...any) model.Object {
		network := map[string]any{"networkInterfaceConfigurations": interfaces(pools...)}
		p := map[string]any{"virtualMachineProfile": map[string]any{"networkProfile": network}}
		if mode == "Flexible" {
			p["orchestrationMode"], network["networkApiVersion"] = mode, "2020-11-01"
		}
		return model.Object{"location": "westus", "extendedLocation": edge, "properties": p}
	}
	for _, mode := range []string{"Uniform", "Flexible"} {
		if d := cmp.Diff(wantModel(mode, model.IDObject(pool)), modelBody(scaleSet(mode), membership{pool: true})); d != "" {
			t.Errorf("%s (-want +got):\n%s", mode, d)
		}
		if got := modelBody(scaleSet(mode, model.IDObject(pool)), membership{pool: true}); got != nil {
			t.Errorf("%s: in the pool already, and %v is written", mode, got)
		}
	}
	machine := model.Object{"location": "westus", "extendedLocation": edge, "instanceId": "3", "sku": map[string]any{"name": "Standard_D2"}, "properties": map[string]any{
		"hardwareProfile": map[string]any{"vmSize": "Standard_D2"}, "networkProfileConfiguration": map[string]any{"networkInterfaceConfigurations": interfaces(model.IDObject(pool))},
	}}
	want := model.Object{"location": "westus", "extendedLocation": edge, "properties": map[string]any{
		"hardwareProfile": map[string]any{"vmSize": "Standard_D2"}, "networkProfileConfiguration": map[string]any{"networkInterfaceConfigurations": interfaces()},
	}}
	want.Props().In("networkProfileConfiguration").List("networkInterfaceConfigurations")[0].Props().List("ipConfigurations")[0].Props()[memberOf] = []any{}
	if d := cmp.Diff(want, instanceBody(machine, membership{pool: false})); d != "" {
		t.Errorf("machine (-want +got):\n%s", d)
	}
}
