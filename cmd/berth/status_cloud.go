package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

// cloudFlags say which cloud is asked for the members of a Service; none is as well.
type cloudFlags struct {
	target            offline.Target
	provider, release string
	lease             string
	opened            *offline.Release
	controller        offline.Target // for what the conditions do not say
	reads             bool           // the cloud is read
}

func (f *cloudFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.release, "release", "", "ask the cloud too, set up as this release of the chart in the cluster")
	set.StringVar(&f.provider, "provider", "", "ask the cloud too: "+strings.Join(cloudNames(), ", "))
	set.StringVar(&f.target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&f.target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	set.StringVar(&f.lease, "lease", "", "Lease of the controller as NAMESPACE/NAME (default: that of the release, else "+offline.DefaultLease+")")
	shareFlag(cmd, &f.target.Share)
	cmd.MarkFlagsMutuallyExclusive("provider", "release")
	completeFlags(cmd, map[string][]string{"provider": cloudNames()})
}

func (f *cloudFlags) asked() bool { return f.provider != "" || f.release != "" }

func (f *cloudFlags) interval() time.Duration {
	if f.asked() {
		return examineInterval
	}
	return watchInterval
}

// take reads how the controller is set up.
func (f *cloudFlags) take(cmd *cobra.Command, in offline.Input) (err error) {
	if !f.asked() {
		return nil
	}
	if f.reads = len(in.Names) > 0; !f.reads && f.release == "" {
		return errors.New("the cloud is asked for Services that are named alone; write svc/NAME")
	}
	f.target.Settings = settings.Settings{DefaultClass: true, OnTakeover: "converge"}
	if f.release != "" {
		if f.opened, err = offline.ReadRelease(cmd.Context(), in, f.release); err != nil {
			return err
		}
		f.opened.Share = f.target.Share
		f.target, f.provider, f.controller = f.opened.Judging(), f.opened.Provider, f.opened.Target
	} else {
		f.controller = f.target
	}
	f.target.Cloud, err = all.Find(f.provider)
	f.controller.Cloud = f.target.Cloud
	return err
}

// judge returns how Services are judged besides their conditions.
func (f *cloudFlags) judge() offline.Judge {
	return offline.Judge{Target: f.controller, Clouds: all.List(), Lease: f.lease, Now: time.Now()}
}

// close removes what was written for a release.
func (f *cloudFlags) close() {
	if f.opened != nil {
		_ = f.opened.Close() // a remaining temporary folder does no harm
	}
}

func (f *cloudFlags) examine(cmd *cobra.Command, found *offline.Standings, in offline.Input) error {
	if !f.reads {
		return nil
	}
	return found.Examine(cmd.Context(), in, f.target)
}
