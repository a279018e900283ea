package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// Names of keys that are read when a Service is deleted.
const (
	idName         = "id"
	groupPortsName = "vgroup-port"
)

// Keys of existing load balancers and server groups.
var (
	idKey = &annotations.Key[string]{
		Name: prefix + idName, Aliases: []string{oldPrefix + idName}, EmptyHides: true, Names: annotations.NamesThe(annotations.ThingLoadBalancer), Group: groupReuse, Example: "lb-bp1o94dp5i6ea9k4t2w7x", OnDelete: true,
		Doc: "Uses an existing load balancer. It is never deleted, and its listeners are managed only with force-override-listeners.",
		Forms: []annotations.Form[string]{{
			Type: annotations.String().Legally("the id of a load balancer that no controller has created"), DefaultDoc: "a load balancer of its own", Empty: annotations.EmptyAbsent, Change: annotations.Refused, Source: source,
		}},
	}
	overrideKey = onReused(&annotations.Key[bool]{
		Name: prefix + "force-override-listeners", Aliases: []string{oldPrefix + "force-override-listeners"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupReuse, Example: "true",
		Doc: "Creates, updates and deletes listeners of the load balancer that is used. Listeners without the Service's description stay.",
		Forms: []annotations.Form[bool]{{
			Type: annotations.BoolWords([]string{"true"}, []string{"false"}, false), DefaultDoc: "false: listeners stay as they are", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: sourceName,
		}},
	})
	groupPortsKey = onReused(&annotations.Key[map[int32]string]{
		Name: prefix + groupPortsName, Aliases: []string{oldPrefix + groupPortsName}, EmptyHides: true, Names: annotations.NamesBy(annotations.ThingTargetGroup, idsOfPorts), Group: groupReuse, Example: "rsp-bp1abc:80,rsp-bp1def:443", OnDelete: true,
		Doc: "Existing server groups, by port. Servers of others in them stay.",
		Forms: []annotations.Form[map[int32]string]{{
			Type: annotations.Custom("groups", "ids of server groups of the load balancer, each with a port, separated by commas: rsp-bp1abc:80", parseGroupPorts), DefaultDoc: "server groups of its own", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
			Doc: "A server group that is no longer listed keeps the servers of the Service.",
		}},
	})
	totalWeightKey = annotations.Needing(numberKey("weight", groupReuse, "60", "Weight of all backends of the Service in a server group of vgroup-port, which they share.", 0, 100, "100 for each node and pod"), annotations.Need{groupPortsKey.IsSet()})
)

func onReused[T any](k *annotations.Key[T]) *annotations.Key[T] {
	return annotations.Needing(k, annotations.Need{idKey.IsSet()})
}

// Parameters of access control.
const (
	paramAccess   = "AclStatus"
	paramLists    = "AclId"
	paramListType = "AclType"

	admitting = "white"
	denying   = "black"
)

// Keys of access control.
var (
	accessKey = annotations.Limiting(onClassic(annotations.Staying(wordKey("acl-status", groupAccess, annotations.InPlace, "Switches access control of the listeners on.", off, on, off))), off)
	listsKey  = annotations.Limiting(onClassic(annotations.Naming(textKey("acl-id", groupAccess, annotations.NamesNothing(), annotations.Custom("lists", "ids of access control lists, separated by commas", parseIDs), annotations.InPlace,
		"acl-bp1ut10zzvh8jy1pxxxx", "Access control lists of the listeners. An admitting list without entries is refused: the cloud would admit everyone.", "none"), annotations.NamesBy(annotations.ThingPrefixList, SplitIDs))))
	listTypeKey = annotations.Limiting(onClassic(annotations.Needing(wordKey("acl-type", groupAccess, annotations.InPlace, "Whether the lists admit (white) or deny (black) clients.", "none", admitting, denying), annotations.Need{accessKey.Is(on)})))
)

// Keys of redirects and further certificates.
var (
	forwardKey = onClassic(&annotations.Key[map[int32]int32]{
		Name: prefix + "forward-port", Aliases: []string{oldPrefix + "forward-port"}, EmptyHides: true, Names: annotations.NamesNothing(), Group: groupListener, Example: "80:443",
		Doc: "Redirects HTTP ports to HTTPS ports.",
		Forms: []annotations.Form[map[int32]int32]{{
			Type: annotations.Custom("ports", "ports of HTTP, each with a port of HTTPS, separated by commas: 80:443", parseForwards), DefaultDoc: "no redirect", Empty: annotations.EmptyAbsent, Change: annotations.Brief, Source: source,
		}},
	})
	domainsKey = onClassic(&annotations.Key[map[string]string]{
		Name: prefix + "domain-extensions", Aliases: []string{oldPrefix + "domain-extensions"}, EmptyHides: true, Names: annotations.NamesBy(annotations.ThingCertificate, certificatesOf), Group: groupListener, Example: "shop.example.com:1234567890123456_15d5eb0ceb3_-1523456789_1234567",
		Doc: "Further certificates of HTTPS listeners, by domain.",
		Forms: []annotations.Form[map[string]string]{{
			Type: annotations.Custom("domains", "domains, each with the id of a certificate, separated by commas: shop.example.com:<id>", parseDomains), DefaultDoc: "those of a live listener stay", Empty: annotations.EmptyAbsent, Change: annotations.InPlace, Source: source,
		}},
	})
)

func reuseKeys() []annotations.Declaration {
	return []annotations.Declaration{idKey, overrideKey, groupPortsKey, totalWeightKey}
}

// splitPairs reads pairs with a colon, separated by commas.
func splitPairs(raw string, each func(left, right string) error) error {
	for item := range strings.SplitSeq(raw, ",") {
		left, right, ok := strings.Cut(strings.TrimSpace(item), ":")
		if !ok || left == "" || right == "" {
			return fmt.Errorf("has %q, which is not a pair with a colon", item)
		}
		if err := each(left, right); err != nil {
			return err
		}
	}
	return nil
}

func parsePort(text string) (int32, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("has %q, which is not a port", text)
	}
	return int32(n), nil
}

func parseGroupPorts(raw string) (map[int32]string, error) {
	out := map[int32]string{}
	err := splitPairs(raw, func(id, text string) error {
		port, err := parsePort(text)
		if err == nil && out[port] != "" {
			err = fmt.Errorf("has two server groups for the port %d", port)
		}
		out[port] = id
		return err
	})
	return out, err
}

// idsOfPorts returns the ids of server groups, each once.
func idsOfPorts(ports map[int32]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(ports)))
}

// parseForwards reads redirects by port.
func parseForwards(raw string) (map[int32]int32, error) {
	out := map[int32]int32{}
	err := splitPairs(raw, func(left, right string) error {
		from, err := parsePort(left)
		if err != nil {
			return err
		}
		out[from], err = parsePort(right)
		return err
	})
	return out, err
}

func parseDomains(raw string) (map[string]string, error) {
	out := map[string]string{}
	err := splitPairs(raw, func(name, certificate string) error {
		out[name] = certificate
		return nil
	})
	return out, err
}

func certificatesOf(domains map[string]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(domains)))
}

// parseIDs returns ids in order, separated by commas.
func parseIDs(raw string) (string, error) {
	var out []string
	for id := range strings.SplitSeq(raw, ",") {
		if id = strings.TrimSpace(id); id == "" || strings.ContainsAny(id, " \t") {
			return "", errors.New("has an item that is not an id")
		}
		out = append(out, id)
	}
	return JoinIDs(out), nil
}

// JoinIDs returns ids as a parameter has them, in order and each once.
func JoinIDs(ids []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(ids))), ",")
}

// SplitIDs returns the ids of a parameter.
func SplitIDs(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
