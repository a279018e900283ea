package ec2

import (
	"strings"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

// launch is what RunInstances asks for, checked.
type launch struct {
	count    int
	tags     map[string]Tags
	nics     []nic
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
	// There are no images here, so every one exists whose id looks like one.
	if !strings.HasPrefix(l.template.Image, "ami-") {
		return l, query.Errorf("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", l.template.Image)
	}
	if l.nics, err = readNICs(c); err != nil {
		return l, err
	}
	l.template.Type, l.template.Key, l.template.ClientToken = c.Str("InstanceType"), c.Str("KeyName"), c.Str("ClientToken")
	if l.template.Type == "" {
		l.template.Type = "m1.small"
	}
	w := &l.template.Switches
	for name, to := range map[string]*bool{
		"DisableApiTermination": &w.NoTerminate, "DisableApiStop": &w.NoStop, "Monitoring.Enabled": &w.Monitored, "EbsOptimized": &w.EBSOptimized,
	} {
		if *to, _, err = c.Bool(name); err != nil {
			return l, err
		}
	}
	l.tags, err = tagSpecs(c, "instance", "volume", "network-interface")
	return l, err
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

// runInstances makes all machines or none.
func runInstances(c *call) (any, error) {
	l, err := readLaunch(c)
	if err != nil {
		return nil, err
	}
	if again, ok := c.launched(l.template.ClientToken); ok {
		return again, nil
	}
	before := c.st.clone()
	out := reservationXML{ID: c.st.newID("r"), Owner: c.opt.Account}
	for n := range l.count {
		i := l.template
		i.ID, i.Reservation, i.LaunchIndex, i.State, i.Launched = c.st.newID("i"), out.ID, n, "running", c.Now
		for at, want := range l.nics {
			eni, err := c.plug(want, n > 0)
			if err != nil {
				*c.st = *before
				return nil, err
			}
			if eni.Instance, eni.Attached = i.ID, c.Now; at == 0 {
				i.VPC, i.Subnet, i.Zone, i.PrivateIP = eni.VPC, eni.Subnet, eni.Zone, eni.primaryIP()
			}
			c.st.interfaces[eni.ID] = eni
			c.setTags(eni.ID, l.tags["network-interface"])
		}
		c.st.instances[i.ID] = i
		c.setTags(i.ID, l.tags["instance"])
		x := c.instanceXML(i)
		// The answer to the launch itself still says pending.
		x.State, x.StateWhy = stateOf("pending"), &reasonXML{"pending", "pending"}
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
