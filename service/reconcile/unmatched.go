package reconcile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// maxNamed is the number of addresses that a warning lists.
const maxNamed = 3

// warnUnmatched warns of addresses in EndpointSlices that no Pod of the namespace has.
func warnUnmatched(all []netip.Addr) annotations.Problems {
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, a := range all[:min(len(all), maxNamed)] {
		names = append(names, a.String())
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return annotations.Problems{{Key: "endpoints", Severity: annotations.Warning, Code: annotations.CodePlan,
		Message: "are left out because no pod of this namespace has these addresses, and the controller sends to no others (--own-pods): " + strings.Join(names, ", ")}}
}
