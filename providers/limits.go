package providers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/nodeports"
)

// Size is the amount of what clouds count in a Service. It depends only on the
// Service and the configuration.
type Size struct {
	Ports  int // of the load balancer
	Ranges int // different ranges of clients that the Service names; 0: none
	Rules  int // entries for them in security groups, firewalls and lists of a listener
}

// Limits bound the size of one Service; 0: no limit of the kind. A larger Service is
// refused before anything is read from the cloud or built, so that the work for one
// Service is bounded for any input.
type Limits struct {
	Ports  int
	Ranges int
	Rules  int
}

// SizeOf counts the ports and ranges of a Service for a kind. It does not set
// Rules, which each cloud counts in its own way.
func SizeOf(c Capability, svc *corev1.Service) Size {
	size := Size{Ports: len(svc.Spec.Ports)}
	if c.NodePorts {
		size.Ports -= len(nodeports.MissingNodePorts(svc).Ports)
	}
	if ranges, source, err := nodeports.SourceRanges(svc); err == nil && source != nodeports.RangesFromDefault {
		for _, family := range c.Families {
			size.Ranges += len(nodeports.OfFamily(ranges, family))
		}
	}
	return size
}

// Exceeds lists the parts of a size that exceed the limits of the kind: one problem for
// each limit.
func (c Capability) Exceeds(size Size) annotations.Problems {
	var out annotations.Problems
	if most := c.Limits.Ports; most > 0 && size.Ports > most {
		out = append(out, newProblem(annotations.CodePorts, "spec.ports", "",
			fmt.Sprintf("has %d ports, more than the %d listeners that a load balancer of this kind can have", size.Ports, most), "fewer ports, or several Services"))
	}
	if most := c.Limits.Ranges; most > 0 && size.Ranges > most {
		out = append(out, newProblem(annotations.CodeRanges, "spec.loadBalancerSourceRanges", "",
			fmt.Sprintf("has %d ranges, more than the %d that a load balancer of kind %s can have", size.Ranges, most, c.Kind), "fewer or wider ranges, or several Services"))
	}
	if most := c.Limits.Rules; most > 0 && size.Rules > most {
		out = append(out, newProblem(annotations.CodeRanges, "spec.loadBalancerSourceRanges", "",
			fmt.Sprintf("takes %d rules for its ports and %d ranges, more than the %d that a load balancer of kind %s can have%s", size.Rules, size.Ranges, most, c.Kind, c.Advice.Rules),
			"fewer or wider ranges, fewer ports, or several Services"))
	}
	return out
}

// Exceeds lists the parts of a Service that exceed the limits of its kind, by the data
// of its cloud.
func Exceeds(all []Capability, reach Reach) annotations.Problems {
	c, _ := CapabilityOf(all, reach.Kind)
	return c.Exceeds(reach.Size)
}

// limitText formats a limit for the table of kinds.
func limitText(most int) string {
	if most == 0 {
		return "no limit of the kind"
	}
	return fmt.Sprint(most)
}
