package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func noAttachment(id string) error {
	return query.Errorf("InvalidAttachmentID.NotFound", "The attachment ID '%s' does not exist", id)
}

func attachNetworkInterface(c *call) (any, error) {
	i, err := c.ownInterface()
	if err != nil {
		return nil, err
	}
	in, err := required(c, c.st.instances, kindInstance(), "InstanceId")
	if err != nil {
		return nil, err
	}
	index, ok, err := c.Int("DeviceIndex")
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, missingParameter("DeviceIndex")
	case i.status() == "in-use":
		return nil, query.Errorf("InvalidNetworkInterface.InUse", "Interface: [%s] in use.", i.ID)
	case in.State != "running" && in.State != "stopped":
		return nil, query.Errorf("IncorrectInstanceState", "Instance '%s' is not 'running' or 'stopped'.", in.ID)
	case i.Zone != in.Zone:
		return nil, query.Errorf("InvalidParameterCombination", "You may not attach a network interface to an instance if they are not in the same availability zone")
	case slices.ContainsFunc(c.st.interfacesOf(in.ID), func(o Interface) bool { return o.DeviceIndex == index }):
		return nil, query.Errorf("InvalidParameterValue", "Instance '%s' already has an interface attached at device index '%d'.", in.ID, index)
	}
	i.Instance, i.DeviceIndex, i.DeleteOnTermination, i.Attached = in.ID, index, false, c.Now
	c.st.interfaces[i.ID] = i
	return struct {
		ID   string `xml:"attachmentId"`
		Card int    `xml:"networkCardIndex"`
	}{i.attachment(), 0}, nil
}

func detachNetworkInterface(c *call) (any, error) {
	id, err := need(c, "AttachmentId")
	if err != nil {
		return nil, err
	}
	for _, i := range c.st.interfaces {
		if i.status() != "in-use" || i.attachment() != id {
			continue
		}
		switch {
		case i.managed():
			return nil, query.Errorf("AuthFailure", "You do not have permission to access the specified resource.")
		case i.DeviceIndex == 0:
			return nil, query.Errorf("OperationNotPermitted", "The network interface at device index 0 cannot be detached.")
		}
		i.Instance, i.DeviceIndex, i.DeleteOnTermination = "", 0, false
		c.st.interfaces[i.ID] = i
		return nil, nil
	}
	return nil, noAttachment(id)
}

// describeNetworkInterfaceAttribute shows one attribute; the description when none is named.
func describeNetworkInterfaceAttribute(c *call) (any, error) {
	i, err := required(c, c.st.interfaces, kindInterface(), "NetworkInterfaceId")
	if err != nil {
		return nil, err
	}
	x := c.interfaceXML(i)
	out := struct {
		ID          string                    `xml:"networkInterfaceId"`
		Description *textXML                  `xml:"description"`
		Groups      *query.Items[groupRefXML] `xml:"groupSet"`
		SourceDest  *flagXML                  `xml:"sourceDestCheck"`
		Attachment  *interfaceAttachmentXML   `xml:"attachment"`
	}{ID: i.ID}
	switch name := c.Str("Attribute"); name {
	case "", "description":
		out.Description = &textXML{x.Description}
	case "groupSet":
		out.Groups = &x.Groups
	case "sourceDestCheck":
		out.SourceDest = &flagXML{x.SourceDest}
	case "attachment":
		out.Attachment = x.Attachment
	default:
		return nil, query.Errorf("InvalidParameterValue", "Value (%s) for parameter attribute is invalid. Unknown attribute.", name)
	}
	return out, nil
}

type textXML struct {
	Value string `xml:"value"`
}
