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

// transition moves instances to another state: at once in truth, while the
// answer names the state in between, as EC2 does.
func transition(between, final string, allowed []string) func(*call) (any, error) {
	return func(c *call) (any, error) {
		ids := c.Strs("InstanceId")
		if len(ids) == 0 {
			return nil, noInstances()
		}
		list, err := byID(listing[Instance]{
			kind: kindInstance(), id: func(i Instance) string { return i.ID }, objects: c.visibleInstances(),
		}, ids)
		if err != nil {
			return nil, err
		}
		for _, i := range list {
			if i.State != final && !slices.Contains(allowed, i.State) {
				return nil, query.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be moved to %s.", i.ID, final)
			}
		}
		if err := protected(list, final); err != nil {
			return nil, err
		}
		var out struct {
			Changes query.Items[changeXML] `xml:"instancesSet"`
		}
		for _, i := range list {
			change := changeXML{i.ID, stateOf(between), stateOf(i.State)}
			if i.State == final {
				change.Current = stateOf(final)
			} else {
				c.move(i, final)
			}
			out.Changes.Item = append(out.Changes.Item, change)
		}
		return out, nil
	}
}

// protected refuses what a machine's protection forbids.
func protected(list []Instance, final string) error {
	for _, i := range list {
		switch {
		case final == "terminated" && i.Switches.NoTerminate:
			return query.Errorf("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
		case final == "stopped" && i.Switches.NoStop:
			return query.Errorf("OperationNotPermitted", "The instance '%s' may not be stopped. Modify its 'disableApiStop' instance attribute and try again.", i.ID)
		}
	}
	return nil
}

func (c *call) move(i Instance, final string) {
	i.State = final
	switch final {
	case "running":
		i.Reason = ""
	default:
		i.Reason = "User initiated (" + c.Now.Format("2006-01-02 15:04:05 MST") + ")"
	}
	if final == "terminated" {
		for _, eni := range c.st.interfacesOf(i.ID) {
			if eni.DeleteOnTermination {
				c.dropInterface(eni)
				continue
			}
			eni.Instance = ""
			c.st.interfaces[eni.ID] = eni
		}
		i.VPC, i.Subnet, i.PrivateIP, i.Ended = "", "", "", c.Now
	}
	c.st.instances[i.ID] = i
	c.relend(i)
}

// relend takes the lent public address from a stopped machine, and lends a
// machine that starts another one where the subnet does so.
// Source: EC2 user guide, public IPv4 addresses.
func (c *call) relend(i Instance) {
	for _, eni := range c.st.interfacesOf(i.ID) {
		if _, elastic := c.st.addressOn(eni, eni.primaryIP()); elastic || eni.DeviceIndex != 0 {
			continue
		}
		eni.PublicIP = ""
		if i.State == "running" && c.st.subnets[eni.Subnet].PublicIPOnLaunch {
			eni.PublicIP = c.lentIP()
		}
		c.st.interfaces[eni.ID] = eni
	}
}

// rebootInstances changes nothing that can be seen here.
func rebootInstances(c *call) (any, error) {
	ids := c.Strs("InstanceId")
	if len(ids) == 0 {
		return nil, noInstances()
	}
	_, err := byID(listing[Instance]{kind: kindInstance(), id: func(i Instance) string { return i.ID }, objects: c.visibleInstances()}, ids)
	return nil, err
}
