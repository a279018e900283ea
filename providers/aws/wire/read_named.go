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
func (r *vpcRead) listNamedGroups() error {
	if names := r.factValues(model.KindGroup, model.ByTagName); len(names) > 0 {
		found, err := r.groupsBy(r.ctx, "tag:Name", names)
		if err != nil {
			return err
		}
		r.shared.NamedGroups = map[string][]string{}
		for _, g := range found {
			name := tagsOfEC2(g.Tags)["Name"]
			r.shared.NamedGroups[name] = eachOnce(append(r.shared.NamedGroups[name], awssdk.ToString(g.GroupId)))
		}
	}
	ids := r.factValues(model.KindGroup, model.ByWanted)
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
