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
	opened            *offline.Release
}

func (f *cloudFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.release, "release", "", "ask the cloud too, set up as this release of the chart in the cluster")
	set.StringVar(&f.provider, "provider", "", "ask the cloud too: "+strings.Join(names(), ", "))
	set.StringVar(&f.target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&f.target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	shareFlag(cmd, &f.target.Share)
	cmd.MarkFlagsMutuallyExclusive("provider", "release")
	complete(cmd, map[string][]string{"provider": names()})
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
	if len(in.Names) == 0 {
		return errors.New("the cloud is asked for Services that are named alone; write svc/NAME")
	}
	f.target.Settings = settings.Settings{DefaultClass: true, OnTakeover: "converge"}
	if f.release != "" {
		if f.opened, err = offline.ReadRelease(cmd.Context(), in, f.release); err != nil {
			return err
		}
		f.opened.Share = f.target.Share
		f.target, f.provider = f.opened.Judging(), f.opened.Provider
	}
	f.target.Cloud, err = all.Find(f.provider)
	return err
}

// close removes what was written for a release.
func (f *cloudFlags) close() {
	if f.opened != nil {
		_ = f.opened.Close() // a folder of ours that is left harms nobody
	}
}

func (f *cloudFlags) examine(cmd *cobra.Command, found *offline.Standings, in offline.Input) error {
	if !f.asked() {
		return nil
	}
	return found.Examine(cmd.Context(), in, f.target)
}
