package baidu_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestPodsFollow: what cannot be built follows the pods as well.
func TestPodsFollow(t *testing.T) {
	onBaidu().PodsFollow(t, withNodes(3), props.Service("web", withKey(pods, "true")).Service, withKey(lb+"scheduler", "fastest"), podAddresses()...)
}
