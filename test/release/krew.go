package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// plugin is the manifest with which Krew installs a program as a plugin of kubectl.
// Source: krew.sigs.k8s.io/docs/developer-guide/plugin-manifest.
type plugin struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   pluginMeta `json:"metadata"`
	Spec       pluginSpec `json:"spec"`
}

type pluginMeta struct {
	Name string `json:"name"`
}

type pluginSpec struct {
	Version     string           `json:"version"`
	Homepage    string           `json:"homepage"`
	Short       string           `json:"shortDescription"`
	Description string           `json:"description"`
	Platforms   []pluginPlatform `json:"platforms"`
}

type pluginPlatform struct {
	Selector pluginSelector `json:"selector"`
	URI      string         `json:"uri"`
	SHA256   string         `json:"sha256"`
	Bin      string         `json:"bin"`
}

type pluginSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// plugin packs the plugin for each of its platforms, with the license, and writes the manifest.
func (r Release) plugin() error {
	if r.Plugin.Package == "" {
		return nil
	}
	name := filepath.Base(r.Plugin.Package)
	license, err := os.ReadFile(filepath.Join(r.Module, "LICENSE"))
	if err != nil {
		return err
	}
	manifest := plugin{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: pluginMeta{name}, Spec: pluginSpec{
		Version: r.Version, Homepage: homepage, Short: "Show what happens to load balancers of Services",
		Description: "Shows the plan of a Service of type LoadBalancer before it is applied, checks manifests,\n" +
			"and shows the state of load balancers and the resources that nothing uses any more.\n",
	}}
	for _, p := range r.Plugin.Platforms {
		program := nameProgram(r.Plugin.Package, p)
		body, err := os.ReadFile(filepath.Join(r.Out, program))
		if err != nil {
			return err
		}
		archive := strings.TrimSuffix(program, ".exe") + ".tar.gz"
		bin := name + filepath.Ext(program)
		if err := r.writeArchive(archive, []packedFile{{"LICENSE", license, 0o644}, {bin, body, 0o755}}); err != nil {
			return err
		}
		sum, err := sha256Of(filepath.Join(r.Out, archive))
		if err != nil {
			return err
		}
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, pluginPlatform{
			Selector: pluginSelector{map[string]string{"os": p.OS, "arch": p.Arch}}, SHA256: sum, Bin: bin,
			URI: fmt.Sprintf("%s/releases/download/%s/%s", homepage, r.Version, archive),
		})
	}
	body, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.Out, name+".yaml"), body, 0o644)
}
