package ec2

import "github.com/berth-lb/berth/test/sim/aws/query"

// instanceAttributeXML has as many fields as the wire; one of them is set.
type instanceAttributeXML struct {
	ID          string                    `xml:"instanceId"`
	Type        *textXML                  `xml:"instanceType"`
	Kernel      *struct{}                 `xml:"kernel"`
	Ramdisk     *struct{}                 `xml:"ramdisk"`
	UserData    *struct{}                 `xml:"userData"`
	Shutdown    *textXML                  `xml:"instanceInitiatedShutdownBehavior"`
	Root        *textXML                  `xml:"rootDeviceName"`
	Disks       *query.Items[struct{}]    `xml:"blockDeviceMapping"`
	Products    *query.Items[struct{}]    `xml:"productCodes"`
	Groups      *query.Items[groupRefXML] `xml:"groupSet"`
	NoTerminate *flagXML                  `xml:"disableApiTermination"`
	NoStop      *flagXML                  `xml:"disableApiStop"`
	SourceDest  *flagXML                  `xml:"sourceDestCheck"`
	EBS         *flagXML                  `xml:"ebsOptimized"`
	ENA         *flagXML                  `xml:"enaSupport"`
	SRIOV       *textXML                  `xml:"sriovNetSupport"`
}

// describeInstanceAttribute shows one attribute; those of disks and boot are empty here.
func describeInstanceAttribute(c *call) (any, error) {
	i, err := required(c, c.st.instances, kindInstance(), "InstanceId")
	if err != nil {
		return nil, err
	}
	name, err := need(c, "Attribute")
	if err != nil {
		return nil, err
	}
	out := instanceAttributeXML{ID: i.ID}
	switch name {
	case "instanceType":
		out.Type = &textXML{i.Type}
	case "kernel":
		out.Kernel = &struct{}{}
	case "ramdisk":
		out.Ramdisk = &struct{}{}
	case "userData":
		out.UserData = &struct{}{}
	case "instanceInitiatedShutdownBehavior":
		out.Shutdown = &textXML{"stop"}
	case "rootDeviceName":
		out.Root = &textXML{rootDevice}
	case "blockDeviceMapping":
		out.Disks = &query.Items[struct{}]{}
	case "productCodes":
		out.Products = &query.Items[struct{}]{}
	case "groupSet":
		groups := c.instanceXML(i).Groups
		out.Groups = &groups
	case "disableApiTermination":
		out.NoTerminate = &flagXML{i.Switches.NoTerminate}
	case "disableApiStop":
		out.NoStop = &flagXML{i.Switches.NoStop}
	case "sourceDestCheck":
		out.SourceDest = &flagXML{!i.SourceDestCheckOff}
	case "ebsOptimized":
		out.EBS = &flagXML{i.Switches.EBSOptimized}
	case "sriovNetSupport":
		out.SRIOV = &textXML{"simple"}
	case "enaSupport":
		out.ENA = &flagXML{true}
	default:
		return nil, query.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid. Unknown attribute.", name)
	}
	return out, nil
}

func modifyInstanceAttribute(c *call) (any, error) {
	i, err := required(c, c.st.instances, kindInstance(), "InstanceId")
	if err != nil {
		return nil, err
	}
	if ids := c.Strs("GroupId"); len(ids) > 0 {
		if err := c.regroup(i, ids); err != nil {
			return nil, err
		}
	}
	check := !i.SourceDestCheckOff
	for name, to := range map[string]*bool{
		"sourceDestCheck": &check, "disableApiTermination": &i.Switches.NoTerminate,
		"disableApiStop": &i.Switches.NoStop, "ebsOptimized": &i.Switches.EBSOptimized,
	} {
		if on, ok, err := c.Bool(c.attribute(name)); err != nil {
			return nil, err
		} else if ok {
			*to = on
		}
	}
	i.SourceDestCheckOff = !check
	if kind := c.Str(c.attribute("instanceType")); kind != "" {
		if i.State != "stopped" {
			return nil, query.Errorf("IncorrectInstanceState", "The instance '%s' is not in the 'stopped' state.", i.ID)
		}
		i.Type = kind
	}
	c.st.instances[i.ID] = i
	return nil, nil
}

// attribute is the parameter that holds the value of an attribute: Value in the
// old form, which names the attribute beside it, and Name.Value in the new one.
func (c *call) attribute(name string) string {
	if c.Str("Attribute") == name {
		return "Value"
	}
	return string(name[0]-'a'+'A') + name[1:] + ".Value"
}

// regroup gives a machine's only interface other groups.
func (c *call) regroup(i Instance, ids []string) error {
	groups, err := c.interfaceGroups(i.VPC, ids)
	if err != nil {
		return err
	}
	enis := c.st.interfacesOf(i.ID)
	if len(enis) > 1 {
		return query.Errorf("InvalidInstanceID", "There are multiple interfaces attached to instance '%s'. Please specify an interface ID for the operation instead.", i.ID)
	}
	for _, eni := range enis {
		eni.Groups = groups
		c.st.interfaces[eni.ID] = eni
	}
	return nil
}

type checkXML struct {
	Status  string                 `xml:"status"`
	Details query.Items[detailXML] `xml:"details"`
}

type detailXML struct {
	Name   string `xml:"name"`
	Status string `xml:"status"`
}

type instanceStatusXML struct {
	ID       string    `xml:"instanceId"`
	Zone     string    `xml:"availabilityZone"`
	ZoneID   string    `xml:"availabilityZoneId"`
	State    stateXML  `xml:"instanceState"`
	System   checkXML  `xml:"systemStatus"`
	Instance checkXML  `xml:"instanceStatus"`
	Disks    *checkXML `xml:"attachedEbsStatus"`
}

func checked(i Instance) checkXML {
	if i.State != "running" {
		return checkXML{Status: "not-applicable"}
	}
	return checkXML{"ok", query.Items[detailXML]{Item: []detailXML{{"reachability", "passed"}}}}
}

// describeInstanceStatus shows running machines only, unless all are asked for.
func describeInstanceStatus(c *call) (any, error) {
	all, _, err := c.Bool("IncludeAllInstances")
	if err != nil {
		return nil, err
	}
	objects := c.visibleInstances()
	ids := c.Strs("InstanceId")
	if objects, err = byID(listing[Instance]{kind: kindInstance(), id: func(i Instance) string { return i.ID }, objects: objects}, ids); err != nil {
		return nil, err
	}
	var shown []Instance
	for _, i := range objects {
		if all || i.State == "running" {
			shown = append(shown, i)
		}
	}
	status := func(_ *call, i Instance) []string { return one(checked(i).Status) }
	page, next, err := describe(c, listing[Instance]{
		kind: kindInstance(), id: func(i Instance) string { return i.ID }, objects: shown,
		props: properties[Instance]{
			"availability-zone":            func(_ *call, i Instance) []string { return one(i.Zone) },
			"availability-zone-id":         func(c *call, i Instance) []string { return one(c.zoneID(i.Zone)) },
			"instance-state-code":          instanceProperties()["instance-state-code"],
			"instance-state-name":          func(_ *call, i Instance) []string { return one(i.State) },
			"instance-status.status":       status,
			"system-status.status":         status,
			"instance-status.reachability": reachable,
			"system-status.reachability":   reachable,
		}.unused("event.code", "event.description", "event.instance-event-id", "event.not-after", "event.not-before",
			"event.not-before-deadline", "attached-ebs-status.status", "operator.managed", "operator.principal"),
	})
	if err != nil {
		return nil, err
	}
	out := struct {
		Statuses query.Items[instanceStatusXML] `xml:"instanceStatusSet"`
		Next     string                         `xml:"nextToken,omitempty"`
	}{Next: next}
	for _, i := range page {
		out.Statuses.Item = append(out.Statuses.Item, instanceStatusXML{
			ID: i.ID, Zone: i.Zone, ZoneID: c.zoneID(i.Zone), State: stateOf(i.State), System: checked(i), Instance: checked(i),
		})
	}
	return out, nil
}

func reachable(_ *call, i Instance) []string {
	if i.State != "running" {
		return nil
	}
	return one("passed")
}
