package elbv2

import (
	"slices"
	"strconv"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

type revocationView struct {
	TrustStoreArn          string
	RevocationId           int //nolint:revive // The name is the element of the answer.
	RevocationType         string
	NumberOfRevokedEntries int
}

type revocationsAnswer struct {
	TrustStoreRevocations query.Members[revocationView]
	NextMarker            string `xml:",omitempty"`
}

func (t *trustStore) revocations(ids []int) revocationsAnswer {
	var out revocationsAnswer
	for _, id := range ids {
		out.TrustStoreRevocations.Member = append(out.TrustStoreRevocations.Member, revocationView{t.ARN, id, "CRL", 1})
	}
	return out
}

func addRevocations(c *call) (any, error) {
	count := 0
	c.Each("RevocationContents", func(e *lbkit.Reader) {
		e.Text("RevocationType", lbkit.OneOf("CRL"))
		count++
	})
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	var added []int
	for range count {
		t.LastID++
		added = append(added, t.LastID)
	}
	t.Revocations = slices.Concat(t.Revocations, added)
	return t.revocations(added), nil
}

// revocationIDs reads RevocationIds, which must all be there.
func (c *call) revocationIDs(t *trustStore) ([]int, error) {
	var ids []int
	for _, text := range c.Strs("RevocationIds") {
		id, err := strconv.Atoi(text)
		if err != nil || !slices.Contains(t.Revocations, id) {
			return nil, query.Errorf("RevocationIdNotFound", "The revocation ID '%s' does not exist", text)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func removeRevocations(c *call) (any, error) {
	c.Required("RevocationIds")
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	gone, err := c.revocationIDs(t)
	if err != nil {
		return nil, err
	}
	t.Revocations = slices.DeleteFunc(slices.Clone(t.Revocations), func(id int) bool { return slices.Contains(gone, id) })
	return nil, nil
}

func describeRevocations(c *call) (any, error) {
	marker, size := c.Paging()
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	ids, err := c.revocationIDs(t)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		ids = t.Revocations
	}
	page, next, err := lbkit.Page(ids, sequence, marker, size)
	if err != nil {
		return nil, err
	}
	out := t.revocations(page)
	out.NextMarker = next
	return out, nil
}

// location is where a file could be fetched. Nothing is served there.
type location struct{ Location string }

func (t *trustStore) file(name string) location {
	return location{"https://trust-stores.invalid/" + t.Name + "/" + name}
}

func getBundle(c *call) (any, error) {
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	return t.file("bundle.pem"), nil
}

func getRevocation(c *call) (any, error) {
	text := c.Need("RevocationId")
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	if id, err := strconv.Atoi(text); err != nil || !slices.Contains(t.Revocations, id) {
		return nil, query.Errorf("RevocationIdNotFound", "The revocation ID '%s' does not exist", text)
	}
	return t.file("revocation-" + text + ".crl"), nil
}

// getResourcePolicy finds no policy: nothing is shared between accounts here.
func getResourcePolicy(c *call) (any, error) {
	arn := c.Need("ResourceArn")
	if err := c.Err(); err != nil {
		return nil, err
	}
	return nil, query.Errorf("ResourceNotFound", "The resource policy of '%s' does not exist", arn)
}

// deleteSharedAssociation is for trust stores of other accounts only.
func deleteSharedAssociation(c *call) (any, error) {
	c.Required("ResourceArn")
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.trusting(t.ARN), c.Str("ResourceArn")) {
		return nil, query.Errorf("AssociationNotFound", "The association of trust store '%s' does not exist", t.ARN)
	}
	return nil, query.Errorf("DeleteAssociationSameAccount", "The trust store '%s' and the resource are in the same account", t.ARN)
}
