package simtest

import (
	"encoding/json"
	"maps"
	"strings"

	simoci "github.com/berth-lb/berth/test/sim/oci"
)

// ForgetWork leaves work requests out of the state of a cloud: it keeps them for a day, and
// they are no remainder of a deleted load balancer.
func ForgetWork(cloud *simoci.Cloud) {
	whole := cloud.State
	cloud.State = func() any {
		raw, err := json.Marshal(whole())
		var tables map[string]any
		if err == nil {
			err = json.Unmarshal(raw, &tables)
		}
		if err != nil {
			return err.Error()
		}
		maps.DeleteFunc(tables, func(table string, _ any) bool { return strings.HasSuffix(table, "workrequest") })
		return tables
	}
}
