package alibaba

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/rest"
)

// addTags adds the tags of the call to a load balancer.
func (v *visit) addTags(lb rest.Object) error {
	all := lb.Object("Tags").Objects("Tag")
	for n := 1; v.query.Has("Tag." + strconv.Itoa(n) + ".Key"); n++ {
		key := v.text("Tag." + strconv.Itoa(n) + ".Key")
		all = slices.DeleteFunc(all, func(t rest.Object) bool { return t.Text("TagKey") == key })
		all = append(all, rest.Object{"TagKey": key, "TagValue": v.text("Tag." + strconv.Itoa(n) + ".Value")})
	}
	if len(all) > v.cloud.opt.Limits.Tags {
		return rest.Refuse(http.StatusBadRequest, "QuotaLimitExceeds.Tag", "The quota of %d tags is exceeded.", v.cloud.opt.Limits.Tags)
	}
	list := []any{}
	for _, t := range all {
		list = append(list, t)
	}
	lb["Tags"] = rest.Object{"Tag": list}
	return nil
}

// tagged runs a change of each load balancer of the call.
func (v *visit) tagged(run func(lb rest.Object) error) (any, error) {
	for _, id := range v.members("ResourceId") {
		lb, err := v.balancer(id)
		if err != nil {
			return nil, err
		}
		next := lb.With(nil)
		if err := run(next); err != nil {
			return nil, err
		}
		v.State.Put(balancers, next)
	}
	return answerDone(nil), nil
}

func tagResources(v *visit) (any, error) {
	if v.text("ResourceType") != "instance" {
		return nil, refuseInvalid("ResourceType", "%q is not instance", v.text("ResourceType"))
	}
	return v.tagged(v.addTags)
}

func untagResources(v *visit) (any, error) {
	keys := v.members("TagKey")
	return v.tagged(func(lb rest.Object) error {
		list := []any{}
		for _, t := range lb.Object("Tags").Objects("Tag") {
			if !slices.Contains(keys, t.Text("TagKey")) {
				list = append(list, t)
			}
		}
		lb["Tags"] = rest.Object{"Tag": list}
		return nil
	})
}

func listTags(v *visit) (any, error) {
	items := []any{}
	for _, id := range v.members("ResourceId") {
		lb, err := v.balancer(id)
		if err != nil {
			return nil, err
		}
		for _, t := range lb.Object("Tags").Objects("Tag") {
			items = append(items, t.With(rest.Object{"ResourceId": id, "ResourceType": "instance"}))
		}
	}
	return answerDone(rest.Object{"TagResources": rest.Object{"TagResource": items}}), nil
}
