// Command plugin is a cloud-controller-manager of another project that uses Berth for
// load balancers: the stock program with the stock service controller, and a blank
// import for each cloud. A program for one cloud has one of them, and only that cloud's
// SDK in it.
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

	_ "github.com/berth-lb/berth/providers/plugin/aws"
	_ "github.com/berth-lb/berth/providers/plugin/azure"
	_ "github.com/berth-lb/berth/providers/plugin/gce"
)

func main() {
	opts, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("options: %v", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	command := app.NewCloudControllerManagerCommand(opts, openCloud, app.DefaultInitFuncConstructors,
		names.CCMControllerAliases(), cliflag.NamedFlagSets{}, ctx.Done())
	os.Exit(cli.Run(command))
}

// openCloud creates the cloud that the flags name, as in every cloud-controller-manager.
func openCloud(c *config.CompletedConfig) cloudprovider.Interface {
	flags := c.ComponentConfig.KubeCloudShared.CloudProvider
	cloud, err := cloudprovider.InitCloudProvider(flags.Name, flags.CloudConfigFile)
	if err != nil {
		klog.Fatalf("cloud provider: %v", err)
	}
	if cloud == nil {
		klog.Fatal("cloud provider: --cloud-provider is empty")
	}
	if !cloud.HasClusterID() && !c.ComponentConfig.KubeCloudShared.AllowUntaggedCloud {
		klog.Fatal("cloud provider: no cluster id")
	}
	return cloud
}
