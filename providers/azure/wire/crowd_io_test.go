package wire

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers/azure/model"
	simazure "github.com/berth-lb/berth/test/sim/azure"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// TestHundredOnMachines: a hundred Services on pools of interfaces, which a hundred
// machines join, cost few calls each, whichever kind of machines they are. Every
// machine is written once, and is not looked at alone.
func TestHundredOnMachines(t *testing.T) {
	const services, machines, most = 100, 100, 6
	for _, as := range []simazure.NodesAs{simazure.VMSS, simazure.Flex, simazure.VM} {
		virtual.Run(t, string(as), func(t *testing.T) {
			r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: as, Nodes: machines}})
			r.slow()
			var svcs []*corev1.Service
			for i := range services {
				svcs = append(svcs, numberedService(i+1, model.Public, nil))
			}
			before := r.calls()
			r.AllTogether(false, svcs...) // an address is known after the first run
			r.AllTogether(false, svcs...) // and opened by the second
			counts := r.sim.Cloud.Journal.Counts()
			if n := r.calls() - before; n > most*services {
				t.Errorf("%d calls for %d Services, want at most %d each: %v", n, services, most, counts)
			}
			for _, alone := range []string{"compute.VirtualMachineScaleSetVMs.Get", "network.Interfaces.Get"} {
				if n := counts[alone]; n > 0 {
					t.Errorf("%s: %d calls, want none", alone, n)
				}
			}
			r.AtRest(svcs...)
			before = r.calls()
			r.AllTogether(true, svcs...)
			if n := r.calls() - before; n > most*services {
				t.Errorf("%d calls for the deletion of %d Services, want at most %d each: %v", n, services, most, r.sim.Cloud.Journal.Counts())
			}
		})
	}
}

// calls counts all calls so far.
func (r *rig) calls() int { return len(r.sim.Cloud.Journal.Entries()) }

// TestMachineWrittenOnce: Services that release a machine one after the other, all based on
// an older read, read it once. A Service that has seen since that it was added again
// removes it again.
func TestMachineWrittenOnce(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const services = 5
		r := newRig(t, simazure.Options{Seed: simazure.SeedOptions{Pools: simazure.NodeNIC, NodesAs: simazure.VMSS}})
		began, start := time.Now(), r.Now
		r.Session.now = func() time.Time { return start.Add(time.Since(began)) }
		var svcs []*corev1.Service
		for i := range services {
			svcs = append(svcs, numberedService(i+1, model.Internal, nil))
		}
		r.AllTogether(false, svcs...)
		all := r.Nodes
		r.Nodes = r.Nodes[1:]
		found := r.Read(false, svcs...)
		before := r.writes("compute.VirtualMachineScaleSetVMs.Get")
		for i, svc := range svcs {
			p := r.Draft(svc, false, found[i].Have, found[i].Facts)
			if p.Empty() {
				t.Fatal("the test is wrong: the machine is not released")
			}
			if err := r.Engine.Run(t.Context(), p, found[i].Have, nil).Err(); err != nil {
				t.Error(err)
			}
		}
		if n := r.writes("compute.VirtualMachineScaleSetVMs.Get") - before; n != 1 {
			t.Errorf("the machine was looked at %d times, want once", n)
		}
		other := r.another("kubernetes")
		other.Nodes = all
		other.AllTogether(false, svcs[:1]...)
		put := r.writes("compute.VirtualMachineScaleSetVMs.CreateOrUpdate")
		time.Sleep(time.Second)
		if _, err := r.run(svcs[0], false); err != nil {
			t.Error(err)
		}
		if n := r.writes("compute.VirtualMachineScaleSetVMs.CreateOrUpdate") - put; n != 1 {
			t.Errorf("%d writes take out a machine that another writer has put back, want one", n)
		}
	})
}
