package tencent_test

import (
	"testing"
	"time"

	"github.com/berth-lb/berth/providers/tencent/model"
	"github.com/berth-lb/berth/test/account"
)

// TestDoubles: see account.Cloud.Doubled.
func TestDoubles(t *testing.T) {
	onTencent().Doubled(t, withNodes(3), account.Doubles[simulated]{
		List:   func(s simulated) []string { return s.Cloud.Balancers() },
		Double: func(s simulated, id string, after time.Duration) string { return s.Cloud.Double(id, after) },
		Unmark: func(s simulated, id string) {
			tags := s.Cloud.TagsOf(id)
			delete(tags, model.TagCreated)
			s.Cloud.SetTags(id, tags)
		},
	})
}
