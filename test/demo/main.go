// Command demo shows the main job on real parts: a real API server, the real
// controller as its own process, and a cloud simulator over HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/berth-lb/berth/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := runDemo(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// nodes is how many machines the cloud has; the last one joins the cluster late.
const nodes = 4

func runDemo(ctx context.Context) error {
	cloud := os.Getenv("CLOUD")
	if cloud == "" {
		cloud = "aws"
	}
	stage, ok := demoStages()[cloud]
	if !ok {
		return fmt.Errorf("CLOUD=%q: there is no demo for it; legal: %s", cloud, strings.Join(slices.Sorted(maps.Keys(demoStages())), ", "))
	}
	began := time.Now()
	show := &show{stage: stage}
	world, err := harness.Start(ctx, harness.Options{Cloud: cloud, Nodes: nodes, SimArgs: stage.sim, Progress: os.Stdout, NoEndpointSlices: true, Early: func(ctx context.Context, w *harness.World) error {
		show.world = w
		return show.plan(ctx)
	}})
	if err != nil {
		return err
	}
	fmt.Printf("everything is built and started after %s\n", time.Since(began).Round(time.Second))
	err = show.play(ctx)
	if err == nil && os.Getenv("KEEP") == "1" {
		show.keep(ctx)
	}
	return errors.Join(err, world.Close())
}

// keep leaves everything running until the user has had enough.
func (s *show) keep(ctx context.Context) {
	s.title("KEEP=1: everything keeps running until you press Ctrl-C")
	fmt.Println("    export KUBECONFIG=" + s.world.Cluster.Kubeconfig(""))
	fmt.Println("    kubectl apply -f examples/" + s.world.Cloud + "/" + s.stage.spare + ".yaml")
	fmt.Println("    kubectl get services; kubectl describe service " + s.stage.spare)
	fmt.Println("    " + strings.Join(s.world.Credentials(), " ") + " \\")
	fmt.Println("      bin/berth plan --kubeconfig $KUBECONFIG --provider " + s.world.Cloud + " --cloud-config " + s.world.Sim.Dir + "/cloud.conf -A")
	fmt.Println("    curl -s " + s.world.Sim.URL + "/_sim/counts")
	<-ctx.Done()
}
