package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"

	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/providers/kit"
	"github.com/berth-lb/berth/providers/openstack/model"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestPages verifies that a list is read to its last page, and that a response other than a
// list is an error. Treated as an empty list, it would cause every load balancer to be
// created a second time.
func TestPages(t *testing.T) {
	for name, tc := range map[string]struct {
		answers map[string]string // by marker
		want    []string
		meaning fault.Meaning
	}{
		"several pages": {answers: map[string]string{
			"":  `{"listeners":[{"id":"a"},{"id":"b"}],"listeners_links":[{"rel":"previous","href":"HERE?marker=x"},{"rel":"next","href":"HERE?marker=b"}]}`,
			"b": `{"listeners":[{"id":"c"}],"listeners_links":[{"rel":"previous","href":"HERE?marker=x"}]}`,
		}, want: []string{"a", "b", "c"}},
		"an empty page at the end": {answers: map[string]string{
			"":  `{"listeners":[{"id":"a"}],"listeners_links":[{"rel":"next","href":"HERE?marker=a"}]}`,
			"a": `{"listeners":[]}`,
		}, want: []string{"a"}},
		"none":              {answers: map[string]string{"": `{"listeners":[]}`}},
		"an object":         {answers: map[string]string{"": `{}`}, meaning: fault.Unavailable},
		"another list":      {answers: map[string]string{"": `{"pools":[]}`}, meaning: fault.Unavailable},
		"a list of nothing": {answers: map[string]string{"": `{"listeners":null}`}, meaning: fault.Unavailable},
	} {
		virtual.Run(t, name, func(t *testing.T) {
			url := virtual.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				here := "http://" + r.Host + r.URL.Path
				_, _ = w.Write([]byte(strings.ReplaceAll(tc.answers[r.URL.Query().Get("marker")], "HERE", here)))
			})) + "/"
			client := &gophercloud.ServiceClient{ProviderClient: &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: virtual.Transport()}}, Endpoint: url, ResourceBase: url + "v2.0/"}
			s := &Session{balancer: client, limits: kit.NewLimits(kit.LimitOptions{Buckets: rateBuckets(), Share: kit.Unlimited(), CallTimeout: time.Minute, Now: time.Now})}
			all, err := listItems(t.Context(), s, model.ListenerCodec(), nil)
			var got []string
			for _, l := range all {
				got = append(got, l.ID)
			}
			if d := cmp.Diff(tc.want, got); err == nil && d != "" {
				t.Errorf("listeners (-want +got):\n%s", d)
			}
			if (err == nil) != (tc.meaning == fault.Internal) || err != nil && !fault.Is(err, tc.meaning) {
				t.Errorf("error %v, want the meaning %v", err, tc.meaning)
			}
		})
	}
}
