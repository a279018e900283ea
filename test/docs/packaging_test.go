package docs

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// hubCategories are the categories of packages on Artifact Hub.
// Source: artifacthub.io/docs/topics/annotations/helm.
const hubCategories = "ai-machine-learning database integration-delivery monitoring-logging networking security storage streaming-messaging skip-prediction"

// readYAML reads a file of the repository without unknown fields.
func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(body, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestChartOnArtifactHub: the annotations of the chart are in the format of Artifact Hub, and links
// to the repository lead to files.
func TestChartOnArtifactHub(t *testing.T) {
	var chart map[string]any
	readYAML(t, "charts/berth/Chart.yaml", &chart)
	annotations, _ := chart["annotations"].(map[string]any)
	text := func(key string) string {
		value, _ := annotations["artifacthub.io/"+key].(string)
		return value
	}
	if category := text("category"); category == "" || !strings.Contains(" "+hubCategories+" ", " "+category+" ") {
		t.Errorf("category %q is none of %s", category, hubCategories)
	}
	if text("license") != "Apache-2.0" {
		t.Errorf("license %q is not that of the repository", text("license"))
	}
	var links []struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	if err := yaml.UnmarshalStrict([]byte(text("links")), &links); err != nil || len(links) == 0 {
		t.Fatalf("links: %v, %v", links, err)
	}
	inRepository := regexp.MustCompile(`^/berth-lb/berth/(?:blob|tree)/main/(.+)$`)
	for _, l := range links {
		u, err := url.Parse(l.URL)
		if err != nil || u.Scheme != "https" || l.Name == "" {
			t.Errorf("link %q to %q: %v", l.Name, l.URL, err)
			continue
		}
		if m := inRepository.FindStringSubmatch(u.Path); m != nil {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("link %q leads nowhere: %v", l.Name, err)
			}
		}
	}
}

// TestRepositoryOnArtifactHub: the metadata file has fields of Artifact Hub only, and ignores previews
// of the chart and no release.
func TestRepositoryOnArtifactHub(t *testing.T) {
	var repository struct {
		ID     string                           `json:"repositoryID"`
		Owners []struct{ Name, Email string }   `json:"owners"`
		Ignore []struct{ Name, Version string } `json:"ignore"`
	}
	readYAML(t, "artifacthub-repo.yml", &repository)
	for _, i := range repository.Ignore {
		pattern, err := regexp.Compile(i.Version)
		if err != nil {
			t.Errorf("%s: %v", i.Version, err)
			continue
		}
		if i.Name != "berth" || pattern.MatchString("1.2.3") || !pattern.MatchString("1.2.3-rc.1") {
			t.Errorf("ignores %+v", i)
		}
	}
	if len(repository.Ignore) == 0 {
		t.Error("previews are listed")
	}
}
