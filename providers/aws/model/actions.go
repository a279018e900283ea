package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/nodeports"
	"github.com/berth-lb/berth/stack"
)

// Weighted is a target group that gets a share of a listener's traffic.
type Weighted struct {
	Group  string    // ARN; empty: one of the Service's
	Of     stack.Ref `json:",omitzero"` // that for another Service; zero: the one for its own pods
	Weight int32
}

// own reports whether the share is that of the Service's own pods.
func (w Weighted) own() bool { return w.Group == "" && w.Of.IsZero() }

// same reports whether two shares are of one target group.
func (w Weighted) same(x Weighted) bool { return w.Group == x.Group && w.Of == x.Of }

// listenerAction is what the annotation says that a listener does.
// Source: kubernetes-sigs/aws-load-balancer-controller:pkg/service/config_types.go.
type listenerAction struct {
	Type          string         `json:"type"`
	ForwardConfig *forwardConfig `json:"forwardConfig"`
}

type forwardConfig struct {
	BaseServiceWeight *int32        `json:"baseServiceWeight"`
	TargetGroups      []targetTuple `json:"targetGroups"`
	Stickiness        struct {
		Enabled bool `json:"enabled"`
	} `json:"targetGroupStickinessConfig"`
}

type targetTuple struct {
	TargetGroupARN string    `json:"targetGroupARN"`
	ServiceName    string    `json:"serviceName"`
	Weight         *int32    `json:"weight"`
	ServicePort    *portSaid `json:"servicePort"`
	Decrypt        *bool     `json:"decrypt"`
}

// portSaid is a port by its number, or by its name.
type portSaid struct {
	number int32
	name   string
}

// UnmarshalJSON takes a number, or a text, which is always a name.
func (p *portSaid) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &p.name) == nil || json.Unmarshal(raw, &p.number) == nil {
		return nil
	}
	return fmt.Errorf("servicePort is %s, and is the number or name of a port", raw)
}

// String returns the number or the name.
func (p portSaid) String() string { return cmp.Or(p.name, Decimal(p.number)) }

// among is the port that is meant; of two of a number the one that speaks one of the protocols.
func (p portSaid) among(ports []nodeports.ServicePort, protocols []string) (nodeports.ServicePort, bool) {
	i := slices.IndexFunc(ports, func(o nodeports.ServicePort) bool {
		meant := p.name == "" && o.Port == p.number || p.name != "" && o.Name == p.name
		return meant && slices.Contains(protocols, strings.ToLower(string(o.Protocol)))
	})
	if i < 0 {
		return nodeports.ServicePort{}, false
	}
	return ports[i], true
}

// String returns what is named: the ARN, or the Service with its port.
func (t targetTuple) String() string {
	if t.ServiceName == "" {
		return t.TargetGroupARN
	}
	return fmt.Sprintf("the Service %q with port %s", t.ServiceName, t.ServicePort)
}

// Bounds of a forward action. Source: API reference, TargetGroupTuple and ForwardActionConfig.
const (
	mostWeight = 999
	mostGroups = 5 // the Service's own is one of them
)

// checkAction says what is wrong with an action; nil: nothing is.
func checkAction(a listenerAction) error {
	if a.Type != "forward" {
		return fmt.Errorf("has the type %q, legal is forward", a.Type)
	}
	f := a.ForwardConfig
	if f == nil {
		return nil
	}
	if f.BaseServiceWeight == nil || *f.BaseServiceWeight < 0 || *f.BaseServiceWeight > mostWeight {
		return errors.New("needs baseServiceWeight, a whole number from 0 to 999: the share of the Service's own targets")
	}
	if len(f.TargetGroups) > mostGroups-1 {
		return fmt.Errorf("has %d target groups, at most %d are possible beside the Service's own", len(f.TargetGroups), mostGroups-1)
	}
	var seen []string
	for _, t := range f.TargetGroups {
		if err := t.check(len(f.TargetGroups) > 1); err != nil {
			return err
		}
		if slices.Contains(seen, t.String()) {
			return fmt.Errorf("names %s twice", t)
		}
		seen = append(seen, t.String())
	}
	return nil
}

func (t targetTuple) check(several bool) error {
	switch {
	case (t.ServiceName == "") == (t.TargetGroupARN == ""):
		return fmt.Errorf("has a target group with targetGroupARN %q and serviceName %q, of which each needs one and only one", t.TargetGroupARN, t.ServiceName)
	case t.ServiceName != "" && t.ServicePort == nil:
		return fmt.Errorf("names the Service %q without servicePort, the number or name of one of its ports", t.ServiceName)
	case t.ServiceName == "" && (!strings.HasPrefix(t.TargetGroupARN, "arn:") || !strings.Contains(t.TargetGroupARN, ":targetgroup/")):
		return fmt.Errorf("has the targetGroupARN %q, which is not the ARN of a target group", t.TargetGroupARN)
	case t.Weight == nil && several:
		return fmt.Errorf("gives %s no weight, which is needed where there are several target groups", t)
	case t.Weight != nil && (*t.Weight < 0 || *t.Weight > mostWeight):
		return fmt.Errorf("gives %s the weight %d, legal is 0 to %d", t, *t.Weight, mostWeight)
	}
	return nil
}

// DefaultWeight is what a group has that is given none. Source: API reference, TargetGroupTuple.
const DefaultWeight = 1

const StickinessOn = "on"

// share gives a listener the shares that an action says; refer says which target group a
// Service that is named has.
func (l Listener) share(a listenerAction, refer func(targetTuple) stack.Ref) Listener {
	if a.ForwardConfig == nil || len(a.ForwardConfig.TargetGroups) == 0 {
		return l
	}
	l.Shares, l.Sticks = []Weighted{{Weight: *a.ForwardConfig.BaseServiceWeight}}, Stickiness(a.ForwardConfig.Stickiness.Enabled)
	for _, t := range a.ForwardConfig.TargetGroups {
		w := Weighted{Group: t.TargetGroupARN, Weight: DefaultWeight}
		if t.ServiceName != "" {
			w.Of = refer(t)
		}
		if t.Weight != nil {
			w.Weight = *t.Weight
		}
		l.Shares = append(l.Shares, w)
	}
	slices.SortFunc(l.Shares, CompareWeighted)
	return l
}

// Stickiness is the setting of a listener that keeps clients on one target group.
func Stickiness(on bool) string {
	if on {
		return StickinessOn
	}
	return ""
}

// CompareWeighted orders shares by their target group.
func CompareWeighted(a, b Weighted) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), a.Of.Compare(b.Of))
}

// namedGroups returns the target groups that an action names.
func namedGroups(action listenerAction) []string {
	if action.ForwardConfig == nil {
		return nil
	}
	var out []string
	for _, t := range action.ForwardConfig.TargetGroups {
		if t.ServiceName == "" {
			out = append(out, t.TargetGroupARN)
		}
	}
	return out
}
