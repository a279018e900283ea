package model

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-lb/berth/annotations"
)

// Keys of security.
var (
	groupsKey = annotations.Limiting(&annotations.Key[[]string]{
		Name: cloud + "security-groups", Names: annotations.NamesThe(annotations.ThingSecurityGroup), Group: groupGuard, Example: "sg-6p9q0abc,sg-1d4f5xyz",
		Doc: "Security groups of the load balancer, in the order of their priority. They replace all others.",
		Forms: annotations.PlainForms(annotations.ListWith(annotations.ListOptions{Unique: true, AtMost: mostGroups}, annotations.String().Legally("the id of a security group")),
			annotations.InPlace, "not changed", sourceDoc),
	})
	passKey       = annotations.Flag(cloud+"pass-to-target", groupGuard, "Whether the security groups of the load balancer alone decide, and those of the instances do not count.", annotations.Plain(annotations.Bool(), annotations.InPlace, "not changed, which is false for a new load balancer", sourceDoc))
	protectionKey = &annotations.Key[bool]{
		Name: cloud + "modification-protection", Group: groupGuard, Example: "false", Doc: "Protects the load balancer from changes in the console.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.Bool(), Empty: annotations.EmptyAbsent, Support: annotations.Accepted, Reason: "the API has no call that switches the protection", Source: sourceSample,
		}},
	}
)

func guardKeys() []annotations.Declaration {
	return []annotations.Declaration{groupsKey, passKey, protectionKey, annotations.SourceRanges(groupGuard, sourceDoc)}
}

const sourceNodes = "https://cloud.tencent.com/document/product/457/45492"

// Keys of backends.
var (
	directKey = annotations.Flag(cloud+"direct-access", groupBackends, "Whether pods are targets, by their addresses, in place of nodes.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", "https://cloud.tencent.com/document/product/457/41897"))
	labelKey  = &annotations.Key[Selector]{
		Name: kube + "qcloud-loadbalancer-backends-label", Names: annotations.NamesNothing(), Group: groupBackends, Example: "group in (edge, web)",
		Doc:   "Selects the nodes that are targets by their labels.",
		Forms: annotations.PlainForms(annotations.Custom("label selector", "a label selector: key=value or key in (a, b)", parseSelector), annotations.InPlace, "all nodes", sourceNodes),
	}
	bindKey = annotations.Needing(annotations.Flag(kube+"local-svc-only-bind-node-with-pod", groupBackends, "Whether only nodes with a pod of the Service are targets.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", sourceNodes)),
		annotations.Need{annotations.FieldIs("spec.externalTrafficPolicy", "Local")})
	balanceKey = annotations.Needing(annotations.Flag(cloud+"local-svc-weighted-balance", groupBackends, "Whether the weight of a node is its number of pods of the Service.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", sourceNodes)),
		annotations.Need{bindKey.Is(true)})
)

// Keys of the weights of pods.
var (
	graceKey = annotations.Needing(annotations.Flag(cloud+"enable-grace-shutdown", groupBackends, "Whether a pod that terminates and still serves stays a target with weight 0.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", "https://cloud.tencent.com/document/product/457/60064")),
		annotations.Need{directKey.Is(true)})
	unreadyKey = annotations.Needing(annotations.Flag(cloud+"enable-grace-shutdown-tkex", groupBackends, "Whether a pod that is not ready, or that terminates, stays a target with weight 0.", annotations.Plain(annotations.Bool(), annotations.InPlace, "false", "https://cloud.tencent.com/document/product/457/60064")),
		annotations.Need{directKey.Is(true)})
	podWeightKey = annotations.Needing(&annotations.Key[PodWeights]{
		Name: cloud + "lb-rs-weight", Names: annotations.NamesNothing(), Group: groupBackends, Example: `{"defaultWeight":10,"groups":[{"key":{"proto":"TCP","port":80},"statefulSets":[{"name":"web","weights":[{"weight":0,"podIndexes":[0]}]}]}]}`,
		Doc:   "Weights of the pods of StatefulSets by port, as a JSON object.",
		Forms: annotations.PlainForms(annotations.JSONOf(fmt.Sprintf("a JSON object with defaultWeight and groups, and weights from 0 to %d", mostWeight), checkPodWeights), annotations.InPlace, "10", "https://cloud.tencent.com/document/product/457/122522"),
	}, annotations.Need{directKey.Is(true)})
)

// sourceKey is the key of targets that are not the Service's own pods.
var sourceKey = annotations.Needing(&annotations.Key[Source]{
	Name: cloud + "loadbalancer-source-endpoints", Names: annotations.NamesNothing(), Group: groupBackends, Example: `{"name":"kubernetes-intranet-loadbalancer"}`,
	Doc:   "Takes the targets from EndpointSlices or Endpoints of another name in the namespace, by the names of the ports.",
	Forms: annotations.PlainForms(annotations.JSONOf("a JSON object with the name of a Service or of Endpoints", checkSource), annotations.InPlace, "the pods of the Service", sourceSample),
}, annotations.Need{directKey.Is(true)})

func backendKeys() []annotations.Declaration {
	return []annotations.Declaration{directKey, sourceKey, labelKey, bindKey, balanceKey, graceKey, unreadyKey, podWeightKey}
}

// Source names the EndpointSlices or Endpoints that targets come from.
type Source struct {
	Name string `json:"name"`
}

func checkSource(s Source) error {
	if s.Name == "" {
		return errors.New("has no name")
	}
	return nil
}

// Selector selects nodes by their labels.
type Selector struct {
	Text string
	Keys []string
	keep labels.Selector
}

// String returns the selector as a text.
func (s Selector) String() string { return s.Text }

// Matches reports whether labels are selected; the zero value selects all.
func (s Selector) Matches(of map[string]string) bool {
	return s.keep == nil || s.keep.Matches(labels.Set(of))
}

func parseSelector(raw string) (Selector, error) {
	keep, err := labels.Parse(raw)
	if err != nil {
		return Selector{}, fmt.Errorf("is not a label selector: %w", err)
	}
	s := Selector{Text: keep.String(), keep: keep}
	requirements, _ := keep.Requirements()
	for _, r := range requirements {
		s.Keys = append(s.Keys, r.Key())
	}
	return s, nil
}
