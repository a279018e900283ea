package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

// cloudFlags say which cloud is asked for the members of a Service; none is as well.
type cloudFlags struct {
	setupFlags
	lease      string
	opened     *offline.Release
	controller offline.Target // for what the conditions do not say
	reads      bool           // the cloud is read
}

func (f *cloudFlags) register(cmd *cobra.Command) {
	f.setupFlags.register(cmd, "ask the cloud too, set up as this release of the chart in the cluster", "ask the cloud too")
	cmd.Flags().StringVar(&f.lease, "lease", "", "Lease of the controller as NAMESPACE/NAME (default: that of the release, else "+offline.DefaultLease+")")
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
	f.opened, err = f.read(cmd, in, (*offline.Release).Judging)
	if f.controller = f.target; f.opened != nil {
		f.controller = f.opened.Target
		f.controller.Cloud = f.target.Cloud
	}
	return err
}

// judge returns how Services are judged besides their conditions.
func (f *cloudFlags) judge() offline.Judge {
	return offline.Judge{Target: f.controller, Clouds: all.List(), Lease: f.lease, Now: time.Now()}
}

// close removes what was written for a release.
func (f *cloudFlags) close() { closeRelease(f.opened) }

func (f *cloudFlags) examine(cmd *cobra.Command, found *offline.Standings, in offline.Input) error {
	if !f.reads {
		return nil
	}
	return found.Examine(cmd.Context(), in, f.target)
}
