// Command plugin is a cloud-controller-manager of somebody else's that uses
// Berth for load balancers: the stock program with the stock service controller,
// and one line that makes our clouds known.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/providers/plugin"
)

func main() {
	for _, entry := range all.List() {
		plugin.Register(entry) // this is the one line
	}
	opts, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("options: %v", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	command := app.NewCloudControllerManagerCommand(opts, open, app.DefaultInitFuncConstructors,
		names.CCMControllerAliases(), cliflag.NamedFlagSets{}, ctx.Done())
	os.Exit(cli.Run(command))
}

// open is what every program of this sort has.
func open(c *config.CompletedConfig) cloudprovider.Interface {
	flags := c.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(flags.Name, flags.CloudConfigFile)
	if err != nil {
		klog.Fatalf("cloud provider: %v", err)
	}
	if cloud == nil {
		klog.Fatal("cloud provider: --cloud-provider is empty")
	}
	return cloud
}
