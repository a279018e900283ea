package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-lb/berth/providers/all"
	"github.com/berth-lb/berth/service/offline"
	"github.com/berth-lb/berth/service/settings"
)

// setupFlags select the cloud and how the controller is set up for it: by flags of the controller,
// or by a release of the chart.
type setupFlags struct {
	target            offline.Target
	provider, release string
}

// register adds the flags with the descriptions of --release and --provider.
func (f *setupFlags) register(cmd *cobra.Command, release, provider string) {
	set := cmd.Flags()
	set.StringVar(&f.release, "release", "", release)
	set.StringVar(&f.provider, "provider", "", provider+": "+strings.Join(cloudNames(), ", "))
	set.StringVar(&f.target.CloudConfig, "cloud-config", "", "the cloud configuration file of the controller")
	set.StringVar(&f.target.ClusterName, "cluster-name", "kubernetes", "name of the cluster, as given to the controller")
	shareFlag(cmd, &f.target.Share)
	cmd.MarkFlagsMutuallyExclusive("provider", "release")
	completeFlags(cmd, map[string][]string{"provider": cloudNames()})
}

// read completes the target, which target returns of a release. The caller closes the release with
// closeRelease after the last use; nil: none was named.
func (f *setupFlags) read(cmd *cobra.Command, in offline.Input, target func(*offline.Release) offline.Target) (opened *offline.Release, err error) {
	if f.release != "" {
		if opened, err = offline.ReadRelease(cmd.Context(), in, f.release); err != nil {
			return nil, err
		}
		opened.Share = f.target.Share
		f.target, f.provider = target(opened), opened.Provider
	}
	f.target.Cloud, err = all.Find(f.provider)
	return opened, err
}

// closeRelease removes what was written for a release; nil: nothing was.
func closeRelease(r *offline.Release) {
	if r != nil {
		_ = r.Close() // a remaining temporary folder does no harm
	}
}

// releaseHelp describes --release where it stands for all flags of the controller.
const releaseHelp = "take provider, cloud configuration and all flags from this release of the chart, in the cluster"

// targetFlags are setupFlags with the settings of the controller that decide on plans.
type targetFlags struct{ setupFlags }

// register adds the flags; exactly one of --provider and --release is required.
func (f *targetFlags) register(cmd *cobra.Command) {
	f.setupFlags.register(cmd, releaseHelp, "cloud to plan for")
	f.target.Settings.Register(cmd.Flags())
	cmd.MarkFlagsOneRequired("provider", "release")
	completeFlags(cmd, settings.Values())
}

// open completes the target. The caller closes what it returns after the last use.
func (f *targetFlags) open(cmd *cobra.Command, in offline.Input) (end func(), err error) {
	opened, err := f.read(cmd, in, func(r *offline.Release) offline.Target { return r.Target })
	if opened != nil {
		printNotes(cmd, opened.Notes)
	}
	return func() { closeRelease(opened) }, err
}
