// Command ccm is the official cloud-controller-manager of Google Cloud, as far as
// load balancers are concerned: the stock service controller of
// k8s.io/cloud-provider with the released provider of
// kubernetes/cloud-provider-gcp.
package main

import (
	"os"

	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	_ "k8s.io/cloud-provider-gcp/providers/gce" // registers itself as "gce"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
)

func main() {
	opts, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("options: %v", err)
	}
	command := app.NewCloudControllerManagerCommand(opts, openCloud, app.DefaultInitFuncConstructors, names.CCMControllerAliases(), cliflag.NamedFlagSets{}, wait.NeverStop)
	os.Exit(cli.Run(command))
}

// openCloud creates the official provider from the configuration file.
func openCloud(c *config.CompletedConfig) cloudprovider.Interface {
	given := c.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(given.Name, given.CloudConfigFile)
	if err != nil || cloud == nil {
		klog.Fatalf("cloud provider %q: %v", given.Name, err)
	}
	return cloud
}
