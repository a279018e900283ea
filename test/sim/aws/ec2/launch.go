package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// launch is what RunInstances asks for, checked.
type launch struct {
	subnet   Subnet
	groups   []string
	count    int
	firstIP  string
	tags     map[string]Tags
	template Instance
}

func readLaunch(c *call) (launch, error) {
	var l launch
	low, okLow, err := c.Int("MinCount")
	if err != nil {
		return l, err
	}
	high, okHigh, err := c.Int("MaxCount")
	if err != nil {
		return l, err
	}
	switch {
	case !okLow:
		return l, missingParameter("MinCount")
	case !okHigh:
		return l, missingParameter("MaxCount")
	case low < 1 || high < low:
		return l, query.Errorf("InvalidParameterValue", "Invalid values minCount %d and maxCount %d", low, high)
	}
	l.count = high
	if l.template.Image, err = need(c, "ImageId"); err != nil {
		return l, err
	}
	first := c.Params
	if nics := c.List("NetworkInterface"); len(nics) > 0 {
		first = nics[0]
	}
	if err := l.network(c, first); err != nil {
		return l, err
	}
	l.template.Type, l.template.Key, l.template.ClientToken = c.Str("InstanceType"), c.Str("KeyName"), c.Str("ClientToken")
	if l.template.Type == "" {
		l.template.Type = "m1.small"
	}
	l.tags, err = tagSpecs(c, "instance", "volume", "network-interface")
	return l, err
}

// network finds subnet and groups, in the call itself or in its first interface.
func (l *launch) network(c *call, p query.Params) error {
	id := p.Str("SubnetId")
	if id == "" {
		s, err := c.defaultSubnet(c.Str("Placement.AvailabilityZone"))
		if err != nil {
			return err
		}
		id = s.ID
	}
	s, err := find(c.st.subnets, kindSubnet(), id)
	if err != nil {
		return err
	}
	ids := p.Strs("SecurityGroupId")
	for _, name := range c.Strs("SecurityGroup") {
		g, err := namedGroup(c, name)
		if err != nil {
			return err
		}
		ids = append(ids, g.ID)
	}
	l.subnet, l.firstIP = s, p.Str("PrivateIpAddress")
	l.groups, err = c.interfaceGroups(s.VPC, ids)
	return err
}

func (c *call) defaultSubnet(zone string) (Subnet, error) {
	vpc, ok := c.st.defaultVPC()
	if !ok {
		return Subnet{}, query.Errorf("VPCIdNotSpecified", "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.")
	}
	for _, s := range sorted(c.st.subnets) {
		if s.VPC == vpc.ID && s.DefaultForZone && (zone == "" || s.Zone == zone) {
			return s, nil
		}
	}
	return Subnet{}, query.Errorf("MissingInput", "No subnets found for the default VPC '%s'. Please specify a subnet.", vpc.ID)
}

func runInstances(c *call) (any, error) {
	l, err := readLaunch(c)
	if err != nil {
		return nil, err
	}
	if again, ok := c.launched(l.template.ClientToken); ok {
		return again, nil
	}
	alloc := c.st.allocator(l.subnet)
	var ips []string
	for n := range l.count {
		ip := l.firstIP
		if n == 0 && ip != "" {
			err = alloc.claim(ip)
		} else {
			ip, err = alloc.take()
		}
		if err != nil {
			return nil, err
		}
		ips = append(ips, ip)
	}
	out := reservationXML{ID: c.st.newID("r"), Owner: c.opt.Account}
	for n, ip := range ips {
		i := l.template
		i.ID, i.Reservation, i.LaunchIndex = c.st.newID("i"), out.ID, n
		i.VPC, i.Subnet, i.Zone, i.PrivateIP = l.subnet.VPC, l.subnet.ID, l.subnet.Zone, ip
		i.State, i.Launched = "running", c.Now
		c.st.instances[i.ID] = i
		eni := newInterface(c.st, l.subnet, l.groups, ip)
		eni.Instance, eni.DeleteOnTermination, eni.Attached = i.ID, true, c.Now
		c.st.interfaces[eni.ID] = eni
		c.setTags(i.ID, l.tags["instance"])
		c.setTags(eni.ID, l.tags["network-interface"])
		x := c.instanceXML(i)
		// The answer to the launch itself still says pending.
		x.State = stateOf("pending")
		out.Instances.Item = append(out.Instances.Item, x)
	}
	return out, nil
}

// launched finds what an earlier call with the same client token made: a
// repeated launch makes nothing new. Source: EC2 API reference, RunInstances.
func (c *call) launched(token string) (reservationXML, bool) {
	out := reservationXML{Owner: c.opt.Account}
	for _, i := range sorted(c.st.instances) {
		if token != "" && i.ClientToken == token {
			out.ID = i.Reservation
			out.Instances.Item = append(out.Instances.Item, c.instanceXML(i))
		}
	}
	return out, out.ID != ""
}

type changeXML struct {
	ID       string   `xml:"instanceId"`
	Current  stateXML `xml:"currentState"`
	Previous stateXML `xml:"previousState"`
}

// transition moves instances to another state: at once in truth, while the
// answer names the state in between, as EC2 does.
func transition(between, final string, allowed []string) func(*call) (any, error) {
	return func(c *call) (any, error) {
		ids := c.Strs("InstanceId")
		if len(ids) == 0 {
			return nil, missingParameter("InstanceId")
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
}

func modifyInstanceAttribute(c *call) (any, error) {
	i, err := required(c, c.st.instances, kindInstance(), "InstanceId")
	if err != nil {
		return nil, err
	}
	enis := c.st.interfacesOf(i.ID)
	if ids := c.Strs("GroupId"); len(ids) > 0 {
		groups, err := c.interfaceGroups(i.VPC, ids)
		if err != nil {
			return nil, err
		}
		if len(enis) > 1 {
			return nil, query.Errorf("InvalidInstanceID", "There are multiple interfaces attached to instance '%s'. Please specify an interface ID for the operation instead.", i.ID)
		}
		for _, eni := range enis {
			eni.Groups = groups
			c.st.interfaces[eni.ID] = eni
		}
	}
	if on, ok, err := c.Bool("SourceDestCheck.Value"); err != nil {
		return nil, err
	} else if ok {
		i.SourceDestCheckOff = !on
	}
	if kind := c.Str("InstanceType.Value"); kind != "" {
		if i.State != "stopped" {
			return nil, query.Errorf("IncorrectInstanceState", "The instance '%s' is not in the 'stopped' state.", i.ID)
		}
		i.Type = kind
	}
	c.st.instances[i.ID] = i
	return nil, nil
}
