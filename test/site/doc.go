// Package site generates the pages of the documentation site that are no files in docs: one for
// each code and one for each reason of conditions and events, from their declarations. It also
// checks the links of the site that Hugo builds.
//
// The layouts and the configuration of Hugo are in docs/site, a module of its own. `make site` builds the
// site. Start with [Files].
package site
