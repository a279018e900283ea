package reconcile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// shownStrays is how many addresses a warning names.
const shownStrays = 3

// strays warns of addresses in EndpointSlices that are no pods of the namespace.
func strays(all []netip.Addr) annotations.Problems {
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, a := range all[:min(len(all), shownStrays)] {
		names = append(names, a.String())
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return annotations.Problems{{Key: "endpoints", Severity: annotations.Warning, Code: annotations.CodePlan,
		Message: "are left out because no pod of this namespace has these addresses, and the controller sends to no others (--own-pods): " + strings.Join(names, ", ")}}
}
