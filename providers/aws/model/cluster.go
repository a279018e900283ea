package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-lb/berth/stack"
)

// ClusterTag marks what belongs to one cluster. The zero value is a cluster
// without an id, which the official controller allows with --allow-untagged-cloud.
type ClusterTag struct {
	ID string
	// Legacy clusters also write the tag KubernetesCluster=<id>; all accept it.
	Legacy bool
}

// ClusterTagFrom finds the cluster's tag on its own instance, for clusters whose
// configuration does not name it. Two ids, or a legacy one that differs, are an
// error, because everything that is made would carry the wrong mark for ever.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/tags.go.
func ClusterTagFrom(tags Tags) (ClusterTag, error) {
	var ids []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if id, ok := strings.CutPrefix(key, TagClusterPrefix); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) > 1 {
		return ClusterTag{}, fmt.Errorf("cluster id: the instance carries the tags of %d clusters: %s", len(ids), strings.Join(ids, ", "))
	}
	legacy := tags[TagClusterLegacy]
	if len(ids) == 0 {
		return newClusterTag(legacy, "")
	}
	return newClusterTag(legacy, ids[0])
}

func newClusterTag(legacy, id string) (ClusterTag, error) {
	if legacy == "" {
		return ClusterTag{ID: id}, nil
	}
	if id != "" && id != legacy {
		return ClusterTag{}, fmt.Errorf("cluster id: %s is %q but %s names %q", TagClusterLegacy, legacy, TagClusterPrefix+"...", id)
	}
	return ClusterTag{ID: legacy, Legacy: true}, nil
}

// Key is the cluster's tag key; empty without an id.
func (c ClusterTag) Key() string {
	if c.ID == "" {
		return ""
	}
	return TagClusterPrefix + c.ID
}

// Marks reports whether the tags are those of this cluster, owned or shared; the old
// form of the tag counts as well. A cluster without an id takes everything for its own,
// as the official controller does.
// Source: kubernetes/cloud-provider-aws:pkg/providers/v1/tags.go (hasClusterTag).
func (c ClusterTag) Marks(tags Tags) bool {
	if c.ID == "" || tags[TagClusterLegacy] == c.ID {
		return true
	}
	_, ok := tags[c.Key()]
	return ok
}

// Owns reports whether the tags say that this cluster created the resource.
func (c ClusterTag) Owns(tags Tags) bool {
	if c.ID == "" {
		return false
	}
	return tags[TagClusterLegacy] == c.ID || tags[c.Key()] == tagOwned
}

// Other returns the id of another cluster that the tags name, or "". Tags that
// name this cluster as well are not another's.
func (c ClusterTag) Other(tags Tags) string {
	if c.Marks(tags) {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if id, ok := strings.CutPrefix(key, TagClusterPrefix); ok {
			return id
		}
	}
	return ""
}

// owned are the tags of a thing that this cluster makes: the user's, and over
// them the cluster's.
func (c ClusterTag) owned(extra map[string]string) Tags {
	out := Tags{}
	maps.Copy(out, extra)
	if c.ID == "" {
		return out
	}
	if c.Legacy {
		out[TagClusterLegacy] = c.ID
	}
	out[c.Key()] = tagOwned
	return out
}

// ownedBy are the tags of a load balancer and its parts. The cluster's tag wins
// over the Service's, and both over the user's.
func (c ClusterTag) ownedBy(o stack.Owner, extra map[string]string) Tags {
	tags := maps.Clone(extra)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[TagServiceName] = ServiceName(o)
	return c.owned(tags)
}
