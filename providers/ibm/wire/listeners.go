package wire

import (
	"strings"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/ibm/model"
)

// listenerPrefix begins the id of a listener that was created with its load balancer: the
// answer has the ids of listeners, and does not say which port each of them has.
const listenerPrefix = "port "

// listenerID returns the id of the listener of a step.
func listenerID(c *change) (string, error) {
	id := c.ID()
	if !strings.HasPrefix(id, listenerPrefix) {
		return id, nil
	}
	all, err := listParts[listenerDoc](c.Ctx, c.Session, "listeners", "load_balancers", c.Parent())
	if err != nil {
		return "", err
	}
	for _, l := range all {
		if listenerPrefix+model.ListenerKey(l.Port).Name == id {
			return l.ID, nil
		}
	}
	return "", fault.New(fault.NotFound, "the load balancer has no listener at %s", id)
}
