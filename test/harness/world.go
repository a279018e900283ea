package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/test/cluster"
)

// Options say what world to start.
type Options struct {
	Cloud    string // "aws"
	Nodes    int    // machines in the cloud, each with a Node in the cluster
	SimArgs  []string
	Progress io.Writer // what is being built and started, for people; nil: nowhere
	// Early is called when simulator and command line are running, and controller and control
	// plane are not yet: building those takes minutes on a new machine. It may be nil.
	Early func(context.Context, *World) error
	// NoEndpointSlices leaves out the program that makes EndpointSlices, and what it takes
	// to compile it: Services then have none, as those without pods.
	NoEndpointSlices bool
	// Cluster is a control plane that runs already. Close leaves it running, but
	// takes its Nodes away; nil starts one.
	Cluster *cluster.Cluster
	// Binaries are built already; the zero value builds them.
	Binaries Binaries
}

// World is a cluster, a cloud and the programs to run in them.
type World struct {
	Cloud    string
	Dir      string // logs, seeds and kubeconfigs; removed by Close
	Binaries Binaries
	Cluster  *cluster.Cluster
	Sim      *Sim
	Client   kubernetes.Interface
	// Env is what controllers have in their environment besides the credentials, and
	// wins over them.
	Env []string

	controllers []*Process
	relays      []*Relay
	shared      bool // the cluster is shared with others
}

// Start builds what is not built, starts the control plane and the simulator,
// and registers the simulator's machines as Nodes.
func Start(ctx context.Context, o Options) (*World, error) {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	w := &World{Cloud: o.Cloud}
	if err := w.start(ctx, o); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *World) start(ctx context.Context, o Options) (err error) {
	if w.Dir, err = os.MkdirTemp("", "berth-"); err != nil {
		return err
	}
	w.Binaries = o.Binaries
	unbuilt := w.Binaries == (Binaries{})
	if unbuilt {
		if w.Binaries, err = binaryPaths(); err != nil {
			return err
		}
		if err := buildPrograms(ctx, o.Progress, w.Binaries.Cloudsim, w.Binaries.Berth); err != nil {
			return err
		}
	}
	fmt.Fprintln(o.Progress, "starting the cloud simulator")
	if w.Sim, err = startSim(ctx, w.Binaries.Cloudsim, o.Cloud, w.Dir, o.Nodes, o.SimArgs); err != nil {
		return err
	}
	if o.Early != nil {
		if err := o.Early(ctx, w); err != nil {
			return err
		}
	}
	// The programs that Early does not need are built after it, and the controller before the
	// control plane: in parallel both would compile their shared packages.
	if unbuilt {
		if err := buildPrograms(ctx, o.Progress, w.Binaries.Controller); err != nil {
			return err
		}
	}
	if w.Cluster, w.shared = o.Cluster, o.Cluster != nil; !w.shared {
		fmt.Fprintln(o.Progress, "starting etcd and kube-apiserver; on a new machine they are compiled first, which takes minutes")
		if w.Cluster, err = cluster.Start(ctx, cluster.Options{Progress: o.Progress, NoEndpointSlices: o.NoEndpointSlices}); err != nil {
			return err
		}
	}
	if w.Client, err = w.Cluster.Client(); err != nil {
		return err
	}
	return w.RegisterNodes(ctx)
}

// Close stops everything and removes the folder.
func (w *World) Close() error {
	all := w.StopControllers()
	for _, r := range w.relays {
		r.close()
	}
	if w.Sim != nil && w.Sim.Running() {
		w.Sim.Kill()
	}
	switch {
	case w.shared && w.Client != nil:
		all = errors.Join(all, w.removeNodes())
	case w.Cluster != nil && !w.shared:
		all = errors.Join(all, w.Cluster.Stop())
	}
	if w.Dir != "" && all == nil {
		all = os.RemoveAll(w.Dir)
	}
	return all
}

// removeNodes leaves a shared cluster as it was found.
func (w *World) removeNodes() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	return w.Client.CoreV1().Nodes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

// stopPatience is longer than the controller's own patience with calls in flight.
const stopPatience = 30 * time.Second

// Controller starts the controller against the world. Further flags come last and
// win. The name tells several apart. Documented rates are no matter of a simulator
// that does not have them: with one that does, tests give --api-share.
func (w *World) Controller(name string, flags ...string) (*Process, error) {
	return w.Manager(name, w.Binaries.Controller, append([]string{"--api-share=inf"}, flags...)...)
}

// Manager starts any cloud-controller-manager against the world, such as the
// cloud's own one. Flags are as for Controller.
func (w *World) Manager(name, program string, flags ...string) (*Process, error) {
	return w.launch(name, program, append(w.Credentials(), w.Env...), flags)
}

// launch starts a cloud-controller-manager with an environment.
func (w *World) launch(name, program string, env, flags []string) (*Process, error) {
	args := append([]string{
		"--cloud-provider=" + w.Cloud,
		"--cloud-config=" + filepath.Join(w.Sim.Dir, "cloud.conf"),
		"--kubeconfig=" + w.Cluster.Kubeconfig(""),
		"--leader-elect=false", "--secure-port=0", "--controllers=service", "-v=1",
	}, flags...)
	p, err := startProcess(w.numbered(name), w.Dir, env, nil, program, args...)
	if err != nil {
		return nil, err
	}
	w.controllers = append(w.controllers, p)
	return p, nil
}

// numbered returns the name of the next controller.
func (w *World) numbered(name string) string { return name + "-" + strconv.Itoa(len(w.controllers)) }

// StopControllers stops the running controllers.
func (w *World) StopControllers() error {
	var all error
	for _, c := range w.controllers {
		if c.Running() {
			all = errors.Join(all, c.Stop(stopPatience))
		}
	}
	return all
}
