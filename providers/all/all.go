package all

import (
	"fmt"
	"strings"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/alibaba"
	"github.com/berth-lb/berth/providers/aws"
	"github.com/berth-lb/berth/providers/azure"
	"github.com/berth-lb/berth/providers/baidu"
	"github.com/berth-lb/berth/providers/gce"
	"github.com/berth-lb/berth/providers/ibm"
	"github.com/berth-lb/berth/providers/oci"
	"github.com/berth-lb/berth/providers/openstack"
	"github.com/berth-lb/berth/providers/tencent"
)

// List returns every cloud, sorted by name. Each knows the annotations of the others.
func List() []providers.Entry {
	return providers.Beside(
		providers.EntryOf(alibaba.Cloud()),
		providers.EntryOf(aws.Cloud()),
		providers.EntryOf(azure.Cloud()),
		providers.EntryOf(baidu.Cloud()),
		providers.EntryOf(gce.Cloud()),
		providers.EntryOf(ibm.Cloud()),
		providers.EntryOf(oci.Cloud()),
		providers.EntryOf(openstack.Cloud()),
		providers.EntryOf(tencent.Cloud()),
	)
}

// Find returns the cloud with the name; the error lists the legal ones.
func Find(name string) (providers.Entry, error) {
	var names []string
	for _, e := range List() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return providers.Entry{}, fmt.Errorf("provider %q is not known; legal: %s", name, strings.Join(names, ", "))
}
