// Package helm checks the chart of charts/berth with Helm itself: it is linted,
// its unit tests are run, and generated files are compared with the repository:
// its page and schema, the raw manifests, and the table of rights in
// docs/security.md.
//
// It is a module of its own so that Helm is a dependency of these tests alone. The
// lint and the installation use Helm 4, the unit tests are rendered by Helm 3, so
// the chart is tried with both. The package must not contain code that runs in a
// cluster, and must not be imported.
//
// Start at TestGenerated; the chart's unit tests are in charts/berth/tests. That
// the chart is installed and works is tested by test/e2e.
package helm
