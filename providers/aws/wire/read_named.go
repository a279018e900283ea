package wire

import (
	"slices"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"

	"github.com/berth-lb/berth/providers/aws/model"
)

const (
	// namedAge is how long a group that a Service names is assumed to exist: while a load
	// balancer has it, AWS does not allow its deletion.
	namedAge = 10 * time.Minute
	// missingAge is how long a group that was not found is not asked for again.
	missingAge = 10 * time.Second
)

// listNamedGroups finds the groups that Services name, by the tag Name those of our VPC,
// by id those of any: a group may be lent to ours.
func (r *read) listNamedGroups() error {
	var names, ids []string
	for _, s := range r.scopes {
		names = append(names, lookupValues(s.Facts, model.KindGroup, model.ByTagName)...)
		ids = append(ids, lookupValues(s.Facts, model.KindGroup, model.ByWanted)...)
	}
	if len(names) > 0 {
		found, err := r.groupsBy(r.ctx, "tag:Name", eachOnce(names))
		if err != nil {
			return err
		}
		r.namedGroupIDs = map[string][]string{}
		for _, g := range found {
			name := tagsOfEC2(g.Tags)["Name"]
			r.namedGroupIDs[name] = eachOnce(append(r.namedGroupIDs[name], awssdk.ToString(g.GroupId)))
		}
	}
	ids = eachOnce(ids)
	there, _, err := r.facts.named.Get(r.ctx, r.now(), ids, r.groupsByID)
	if err != nil {
		return err
	}
	r.missing = slices.DeleteFunc(ids, func(id string) bool {
		_, exists := there[id]
		return exists
	})
	return nil
}
