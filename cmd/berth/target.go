package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

// targetFlags select the cloud, and the controller whose decisions are shown: by the flags of the
// controller, or by a release of the chart.
type targetFlags struct {
	target            offline.Target
	provider, release string
}

// register adds the flags; exactly one of --provider and --release is required.
func (f *targetFlags) register(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringVar(&f.release, "release", "", "take provider, cloud configuration and all flags from this release of the chart, in the cluster")
	set.StringVar(&f.provider, "provider", "", "cloud to plan for: "+strings.Join(cloudNames(), ", "))
	set.StringVar(&f.target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&f.target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	f.target.Settings.Register(set)
	shareFlag(cmd, &f.target.Share)
	cmd.MarkFlagsOneRequired("provider", "release")
	cmd.MarkFlagsMutuallyExclusive("provider", "release")
	completeFlags(cmd, map[string][]string{"provider": cloudNames()})
	completeFlags(cmd, settings.Values())
}

// open completes the target. The caller closes what it returns after the last use.
func (f *targetFlags) open(cmd *cobra.Command, in offline.Input) (closeRelease func(), err error) {
	closeRelease = func() {}
	if f.release != "" {
		release, err := offline.ReadRelease(cmd.Context(), in, f.release)
		if err != nil {
			return closeRelease, err
		}
		closeRelease = func() { _ = release.Close() } // a temporary folder that stays harms no one
		release.Share = f.target.Share
		printNotes(cmd, release.Notes)
		f.target, f.provider = release.Target, release.Provider
	}
	f.target.Cloud, err = all.Find(f.provider)
	return closeRelease, err
}
