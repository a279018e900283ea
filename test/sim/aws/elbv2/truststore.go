package elbv2

import (
	"regexp"
	"slices"

	"github.com/berth-lb/berth/test/sim/aws/elb/lbkit"
	"github.com/berth-lb/berth/test/sim/aws/query"
)

// trustStore is the certificate authorities of a listener that checks client
// certificates. No file is read: there are no buckets here, so every one exists.
type trustStore struct {
	Seq         int
	ARN, Name   string
	Tags        []lbkit.Tag
	Revocations []int // ids of the revocation files
	LastID      int
}

// maxTrustStores is the quota of an account.
// Source: Application Load Balancers guide, quotas.
const maxTrustStores = 20

// storePattern is the form of a trust store's name; source: service model.
var storePattern = regexp.MustCompile(`^([a-zA-Z0-9]+-)*[a-zA-Z0-9]+$`)

func (c *call) trustStoreAt(arn string) (*trustStore, error) {
	if t, ok := c.state.TrustStores[arn]; ok {
		return t, nil
	}
	return nil, query.Errorf("TrustStoreNotFound", "The trust store '%s' does not exist", arn)
}

// trustStore reads TrustStoreArn and gives the trust store.
func (c *call) trustStore() (*trustStore, error) {
	arn := c.Need("TrustStoreArn")
	if err := c.Err(); err != nil {
		return nil, err
	}
	return c.trustStoreAt(arn)
}

func createTrustStore(c *call) (any, error) {
	c.Required("CaCertificatesBundleS3Bucket", "CaCertificatesBundleS3Key")
	t := &trustStore{Name: c.Need("Name", lbkit.Length(1, 32), lbkit.Matches(storePattern))}
	tags := c.Tags("Tags")
	if err := c.Err(); err != nil {
		return nil, err
	}
	var err error
	if t.Tags, err = lbkit.MergeTags(nil, tags, c.opt.Limits.Tags); err != nil {
		return nil, err
	}
	for _, old := range c.state.TrustStores {
		if old.Name == t.Name {
			return nil, query.Errorf("DuplicateTrustStoreName", "A trust store with the name '%s' already exists", t.Name)
		}
	}
	if len(c.state.TrustStores) >= maxTrustStores {
		return nil, query.Errorf("TooManyTrustStores", "The maximum number of trust stores has been reached")
	}
	var id string
	t.Seq, id = c.next("trust store")
	t.ARN = c.arn("truststore/" + t.Name + "/" + id)
	c.state.TrustStores[t.ARN] = t
	return trustStores(t), nil
}

func modifyTrustStore(c *call) (any, error) {
	c.Required("CaCertificatesBundleS3Bucket", "CaCertificatesBundleS3Key")
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	return trustStores(t), nil
}

func deleteTrustStore(c *call) (any, error) {
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	if len(c.trusting(t.ARN)) > 0 {
		return nil, query.Errorf("TrustStoreInUse", "The trust store '%s' is currently in use by a listener", t.ARN)
	}
	delete(c.state.TrustStores, t.ARN)
	return nil, nil
}

type trustStoreView struct {
	Name                   string
	TrustStoreArn          string
	Status                 string
	NumberOfCaCertificates int
	TotalRevokedEntries    int
}

type trustStoresAnswer struct {
	TrustStores query.Members[trustStoreView]
	NextMarker  string `xml:",omitempty"`
}

func trustStores(ts ...*trustStore) trustStoresAnswer {
	var out trustStoresAnswer
	for _, t := range ts {
		out.TrustStores.Member = append(out.TrustStores.Member, trustStoreView{t.Name, t.ARN, "ACTIVE", 1, len(t.Revocations)})
	}
	return out
}

func describeTrustStores(c *call) (any, error) {
	marker, size := c.Paging()
	arns := c.Strs("TrustStoreArns")
	names := c.EachText("Names", lbkit.Length(1, 32), lbkit.Matches(storePattern))
	if err := c.Err(); err != nil {
		return nil, err
	}
	var all []*trustStore
	for _, t := range c.state.TrustStores {
		if len(arns)+len(names) == 0 || slices.Contains(arns, t.ARN) || slices.Contains(names, t.Name) {
			all = append(all, t)
		}
	}
	if len(all) < len(arns) || len(all) < len(names) {
		return nil, query.Errorf("TrustStoreNotFound", "One or more trust stores not found")
	}
	slices.SortFunc(all, func(a, b *trustStore) int { return a.Seq - b.Seq })
	page, next, err := lbkit.Page(all, func(t *trustStore) string { return sequence(t.Seq) }, marker, size)
	if err != nil {
		return nil, err
	}
	out := trustStores(page...)
	out.NextMarker = next
	return out, nil
}

// trusting lists the ARNs of the listeners that use a trust store, sorted.
func (c *call) trusting(arn string) []string {
	var out []string
	for _, l := range c.state.Listeners {
		if l.Mutual != nil && l.Mutual.TrustStoreArn == arn {
			out = append(out, l.ARN)
		}
	}
	slices.Sort(out)
	return out
}

type trustedView struct{ ResourceArn string }

func describeAssociations(c *call) (any, error) {
	marker, size := c.Paging()
	t, err := c.trustStore()
	if err != nil {
		return nil, err
	}
	page, next, err := lbkit.Page(c.trusting(t.ARN), func(arn string) string { return arn }, marker, size)
	if err != nil {
		return nil, err
	}
	out := struct {
		TrustStoreAssociations query.Members[trustedView]
		NextMarker             string `xml:",omitempty"`
	}{NextMarker: next}
	for _, arn := range page {
		out.TrustStoreAssociations.Member = append(out.TrustStoreAssociations.Member, trustedView{arn})
	}
	return out, nil
}
