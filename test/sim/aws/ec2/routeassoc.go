package ec2

import (
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/query"
)

func associateRouteTable(c *call) (any, error) {
	t, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	s, err := required(c, c.st.subnets, kindSubnet(), "SubnetId")
	if err != nil {
		return nil, err
	}
	if s.VPC != t.VPC {
		return nil, query.Errorf("InvalidParameterValue", "Route table %s and subnet %s belong to different networks", t.ID, s.ID)
	}
	for _, o := range c.st.tables {
		for _, a := range o.Associations {
			if a.Subnet == s.ID && o.ID == t.ID {
				return associated(a), nil
			}
			if a.Subnet == s.ID {
				return nil, query.Errorf("Resource.AlreadyAssociated", "the specified association for route table %s conflicts with an existing association", t.ID)
			}
		}
	}
	a := Association{ID: c.st.newID("rtbassoc"), Subnet: s.ID}
	t.Associations = append(slices.Clone(t.Associations), a)
	c.st.tables[t.ID] = t
	return associated(a), nil
}

func associated(a Association) any {
	return struct {
		ID    string    `xml:"associationId"`
		State statusXML `xml:"associationState"`
	}{a.ID, statusXML{"associated"}}
}

func disassociateRouteTable(c *call) (any, error) {
	id, err := need(c, "AssociationId")
	if err != nil {
		return nil, err
	}
	for _, t := range c.st.tables {
		at := slices.IndexFunc(t.Associations, func(a Association) bool { return a.ID == id })
		if at < 0 {
			continue
		}
		if t.Associations[at].Main {
			return nil, query.Errorf("InvalidParameterValue", "cannot disassociate the main route table association %s", id)
		}
		t.Associations = slices.Delete(slices.Clone(t.Associations), at, at+1)
		c.st.tables[t.ID] = t
		return nil, nil
	}
	return nil, query.Errorf("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
}

// replaceRouteTableAssociation moves a subnet, or the role of the main table, to another table.
func replaceRouteTableAssociation(c *call) (any, error) {
	id, err := need(c, "AssociationId")
	if err != nil {
		return nil, err
	}
	to, err := required(c, c.st.tables, kindTable(), "RouteTableId")
	if err != nil {
		return nil, err
	}
	for _, from := range c.st.tables {
		at := slices.IndexFunc(from.Associations, func(a Association) bool { return a.ID == id })
		if at < 0 {
			continue
		}
		a := from.Associations[at]
		if from.VPC != to.VPC {
			return nil, query.Errorf("InvalidParameterValue", "Route table %s and the association %s belong to different networks", to.ID, id)
		}
		if from.ID != to.ID {
			a.ID = c.st.newID("rtbassoc")
			from.Associations = slices.Delete(slices.Clone(from.Associations), at, at+1)
			to.Associations = append(slices.Clone(to.Associations), a)
			c.st.tables[from.ID], c.st.tables[to.ID] = from, to
		}
		return struct {
			ID    string    `xml:"newAssociationId"`
			State statusXML `xml:"associationState"`
		}{a.ID, statusXML{"associated"}}, nil
	}
	return nil, query.Errorf("InvalidAssociationID.NotFound", "The association ID '%s' does not exist", id)
}
