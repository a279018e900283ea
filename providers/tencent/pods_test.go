package tencent_test

import (
	"testing"

	"github.com/berth-lb/berth/test/props"
)

// TestPodsFollow: what cannot be built follows the pods as well, as targets of listeners and of rules.
func TestPodsFollow(t *testing.T) {
	for name, more := range map[string][]string{
		"listeners": {direct, "true"},
		"rules":     {direct, "true", protocols, `{"80":{"protocol":["HTTP"],"hosts":{"a.example.com":{}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			onTencent().PodsFollow(t, withNodes(3), props.Service("web", onTencent().Keys(more...)).Service, withKey(extensive, "{"), "172.16.0.11", "172.16.0.12", "172.16.0.13")
		})
	}
}
