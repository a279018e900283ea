package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-lb/berth/annotations"
)

// nodeGroups chooses, for every instance, the security group that gets the rules, and
// lists the chosen ones, sorted, without repetition.
//
// It is the only group with the cluster's tag, else the only group at all. The official
// controller gives up on all Services where an instance has several; here the choice is
// made anyway, the same one every time (groups that the cluster owns, then the lowest
// id), and is reported to the user.
func nodeGroups(ids []string, facts *Facts) ([]string, annotations.Problems) {
	byID := map[string]NodeGroup{}
	for _, g := range facts.NodeGroups {
		byID[g.ID] = g
	}
	var out []string
	doubts := map[string][]string{} // chosen among, by what the choice was
	for _, id := range ids {
		chosen, among := nodeGroup(facts.Instances[id].Groups, byID, facts.Cluster)
		if chosen == "" {
			continue
		}
		out = append(out, chosen)
		if len(among) > 1 {
			key := chosen + " out of " + strings.Join(among, ", ")
			doubts[key] = append(doubts[key], id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), reportDoubts(doubts, facts.Cluster, "node")
}

// groupsOf is nodeGroups, chosen once for all Services that have the same nodes.
// What it returns must not be written to.
func groupsOf(ids []string, facts *Facts) ([]string, annotations.Problems) {
	if m := facts.members; m != nil && slices.Equal(ids, m.ids) {
		return m.groups, m.doubts
	}
	return nodeGroups(ids, facts)
}

// nodeGroup chooses among the groups of one instance.
func nodeGroup(groups []string, byID map[string]NodeGroup, cluster ClusterTag) (chosen string, among []string) {
	var owned, tagged []string
	for _, id := range groups {
		tags := byID[id].Tags
		if hasClusterTag(cluster, tags) {
			tagged = append(tagged, id)
			if cluster.Owns(tags) {
				owned = append(owned, id)
			}
		}
	}
	among = tagged
	if len(tagged) == 0 {
		among = groups
	}
	best := among
	if len(tagged) > 1 && len(owned) > 0 {
		best = owned
	}
	if len(best) == 0 {
		return "", nil
	}
	return slices.Min(best), among
}

// reportDoubts reports nodes or pods for which more than one group was found.
func reportDoubts(doubts map[string][]string, cluster ClusterTag, of string) annotations.Problems {
	var out annotations.Problems
	for _, choice := range sortedKeys(doubts) {
		ids := doubts[choice]
		slices.Sort(ids)
		text := "could each get the rules of load balancers; chosen is " + choice
		legal := "one group for each " + of
		if cluster.ID != "" {
			legal = fmt.Sprintf("the tag %s on one group of each %s", cluster.Key(), of)
		}
		out = append(out, annotations.ProblemOf("security groups of "+shortList(ids), "", text, legal, annotations.Warning))
	}
	return out
}

// hasClusterTag is Marks for a cluster with an id; without one nothing is marked.
func hasClusterTag(cluster ClusterTag, tags Tags) bool {
	return cluster.ID != "" && cluster.Marks(tags)
}
