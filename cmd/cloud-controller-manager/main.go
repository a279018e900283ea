// Command cloud-controller-manager runs Berth as a cloud-controller-manager:
// the usual program of k8s.io/cloud-provider with its usual flags, in which our
// loop replaces the stock service controller.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the API client
	_ "k8s.io/component-base/metrics/prometheus/version"  // build_info
	_ "k8s.io/component-base/metrics/prometheus/workqueue"
	"k8s.io/klog/v2"
)

func main() {
	opts, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("options: %v", err)
	}
	useOurDefaults(opts)
	if err := spareMemory(); err != nil {
		klog.Fatal(err)
	}
	flags := newFlags()
	manager := newManager(flags)
	signals, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	stopped := manager.stopAfter(signals)

	constructors := app.DefaultInitFuncConstructors
	constructors[names.ServiceLBController] = app.ControllerInitFuncConstructor{
		InitContext: app.ControllerInitContext{ClientName: "service-controller"},
		Constructor: manager.construct,
	}
	sets := cliflag.NamedFlagSets{}
	flags.register(sets.FlagSet("berth"))
	command := app.NewCloudControllerManagerCommand(opts, manager.open, constructors, names.CCMControllerAliases(), sets, stopped)
	command.Long = "Berth turns Services of type LoadBalancer into cloud load balancers. It replaces the\nservice controller of the cloud's own cloud-controller-manager: same flags, annotations, names and tags."
	os.Exit(cli.Run(command))
}

// Requests to the API server per second. The stock defaults of 20 and 30 would
// make the API client, not the cloud, the bottleneck of a restart.
const (
	kubeAPIQPS   = 100
	kubeAPIBurst = 200
)

func useOurDefaults(o *options.CloudControllerManagerOptions) {
	o.Generic.ClientConnection.QPS = kubeAPIQPS
	o.Generic.ClientConnection.Burst = kubeAPIBurst
	o.Generic.Debugging.EnableProfiling = false // profiles are opt-in
}

// graceful is how long calls in flight may take to finish after the process
// receives the signal to stop.
const graceful = 25 * time.Second
