package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

type changeXML struct {
	ID       string   `xml:"instanceId"`
	Current  stateXML `xml:"currentState"`
	Previous stateXML `xml:"previousState"`
}

func noInstances() error {
	return query.Errorf("InvalidParameterCombination", "No instances specified")
}

// changeState moves instances to another state: the store has the final state at once,
// while the answer names the state in between, as EC2 does.
func changeState(between, final string, allowed []string) func(*call) (any, error) {
	return func(c *call) (any, error) {
		ids := c.Strs("InstanceId")
		if len(ids) == 0 {
			return nil, noInstances()
		}
		list, err := byID(listing[Instance]{
			kind: kindOf("i"), id: func(i Instance) string { return i.ID }, objects: c.visibleInstances(),
		}, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			if i.State != final && !slices.Contains(allowed, i.State) {
				return nil, query.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be moved to %s.", i.ID, final)
			}
		}
		var out struct {
			Changes []changeXML `xml:"instancesSet"`
		}
		for _, i := range list {
			change := changeXML{i.ID, stateOf(between), stateOf(i.State)}
			if i.State == final {
				change.Current = stateOf(final)
			} else {
				c.move(i, final)
			}
			out.Changes = append(out.Changes, change)
		}
		return out, nil
	}
}

func (c *call) move(i Instance, final string) {
	i.State = final
	i.Reason = "User initiated (" + c.Now.Format("2006-01-02 15:04:05 MST") + ")"
	if final == "terminated" {
		for _, eni := range c.st.interfacesOf(i.ID) {
			if eni.DeleteOnTermination {
				delete(c.st.interfaces, eni.ID)
				c.st.drop(eni.ID)
				continue
			}
			eni.Instance = ""
			c.st.interfaces[eni.ID] = eni
		}
		i.VPC, i.Subnet, i.PrivateIP, i.Ended = "", "", "", c.Now
	}
	c.st.instances[i.ID] = i
}
