package model

import (
	"maps"
	"slices"
	"strings"
)

// Tags of public IPs and private link services that say whose they are.
// Source: kubernetes-sigs/cloud-provider-azure:pkg/consts/consts.go.
const (
	tagService = "k8s-azure-service"
	tagCluster = "k8s-azure-cluster-name"
	tagDNS     = "k8s-azure-dns-label-service"
	TagOwner   = "k8s-azure-owner-service"

	// Names of earlier releases, read only where the new ones are absent.
	tagServiceLegacy = "service"
	tagClusterLegacy = "kubernetes-cluster-name"
	tagDNSLegacy     = "kubernetes-dns-label-service"
)

// parseTags reads "k=v,k2=v2": entries without exactly one "=" or with an empty
// key are left out. A value that is "null" keeps its blanks, because ARM reserves
// the bare word. Source: kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_utils.go.
func parseTags(text string) Tags {
	out := Tags{}
	for _, piece := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(piece, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.Contains(value, "=") {
			continue
		}
		if trimmed := strings.TrimSpace(value); !strings.EqualFold(trimmed, "null") {
			value = trimmed
		}
		out.set(key, value)
	}
	return out
}

func configTags(text string, more map[string]string) Tags {
	out := parseTags(text)
	for _, k := range slices.Sorted(maps.Keys(more)) {
		if key := strings.TrimSpace(k); key != "" {
			out.set(key, strings.TrimSpace(more[k]))
		}
	}
	return out
}

// set writes a tag under its existing spelling.
func (t Tags) set(key, value string) {
	if there, ok := t.find(key); ok {
		key = there
	}
	t[key] = value
}

// find returns the existing spelling of a key, the first of several.
func (t Tags) find(key string) (string, bool) {
	first, found := "", false
	for k := range t {
		if strings.EqualFold(k, key) && (!found || k < first) {
			first, found = k, true
		}
	}
	return first, found
}

// Get is the value of a key in any spelling.
func (t Tags) Get(key string) (string, bool) {
	k, ok := t.find(key)
	return t[k], ok
}

// mergeTags merges the desired tags into the observed ones. A value that differs only in
// case is retained. Others are removed only with system tags configured: tags that are not
// desired, do not begin with one of the prefixes and are not in kept. Source:
// kubernetes-sigs/cloud-provider-azure:pkg/provider/azure_utils.go.
func mergeTags(found, wanted Tags, systemTags []string, kept ...string) Tags {
	out := Tags{}
	maps.Copy(out, found)
	for _, k := range slices.Sorted(maps.Keys(wanted)) {
		if there, ok := out.Get(k); !ok || !strings.EqualFold(there, wanted[k]) {
			out.set(k, wanted[k])
		}
	}
	if len(systemTags) == 0 {
		return out
	}
	maps.DeleteFunc(out, func(k, _ string) bool {
		if _, ok := wanted.find(k); ok || ContainsFold(kept, k) {
			return false
		}
		return !slices.ContainsFunc(systemTags, func(p string) bool { return strings.HasPrefix(lowerCase(k), lowerCase(p)) })
	})
	return out
}

// ContainsFold reports whether a list contains a text, ignoring case.
func ContainsFold(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, text) })
}

// isServiceTag reports whether a tag names the Services of a public IP, or its cluster.
// Users also set tags with the name of earlier releases; see owners.
func isServiceTag(key, value string) bool {
	if strings.EqualFold(key, tagServiceLegacy) {
		return len(Tags{key: value}.owners()) > 0
	}
	return ContainsFold([]string{tagService, tagCluster, tagDNS, tagDNSLegacy}, key)
}

// owners reads the list of Services in the ownership tag. The name of earlier
// releases counts only if what it holds looks like namespace/name: people tag
// things with "service" for reasons of their own.
func (t Tags) owners() []string {
	if text, ok := t.Get(tagService); ok {
		return splitTrimmed(text)
	}
	var out []string
	text, _ := t.Get(tagServiceLegacy)
	for _, name := range splitTrimmed(text) {
		if ns, n, ok := strings.Cut(name, "/"); ok && ns != "" && n != "" && !strings.Contains(n, "/") {
			out = append(out, name)
		}
	}
	return out
}

// Cluster is the cluster that has written the tags; "" if none has.
func (t Tags) Cluster() string    { return t.either(tagCluster, tagClusterLegacy) }
func (t Tags) dnsService() string { return t.either(tagDNS, tagDNSLegacy) }

func (t Tags) either(key, legacy string) string {
	if text, ok := t.Get(key); ok {
		return text
	}
	text, _ := t.Get(legacy)
	return text
}

// OfCluster reports whether a controller of this cluster, or of an unnamed one, wrote the
// tags.
func (t Tags) OfCluster(cluster string) bool {
	c := t.Cluster()
	return c == "" || strings.EqualFold(c, cluster)
}
