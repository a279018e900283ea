package offline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// codePages is the folder of the documentation site in which each code has a page.
const codePages = "https://berth-lb.github.io/berth/problems/"

// Formats lists the legal values of Render's format.
func (Checked) Formats() []string { return []string{"human", "json", "sarif", "junit", "github"} }

// Render shows what was checked in one of the Formats.
func (c Checked) Render(format string, width int) (string, error) {
	switch format {
	case "human":
		return c.human(width), nil
	case "json":
		return encodeJSON(c)
	case "sarif":
		return encodeJSON(c.sarif())
	case "junit":
		return c.junit()
	case "github":
		return c.github(), nil
	}
	return "", unknownFormat(format, c.Formats())
}

// sentence is a finding for people, with what it is about.
func (f Finding) sentence() string {
	if f.Where == "" {
		return f.Text
	}
	return f.Where + ": " + f.Text
}

func (c Checked) human(width int) string {
	var b strings.Builder
	shown := len(c.Files)
	for _, f := range c.Files {
		writeWrapped(&b, width, f.line(""))
	}
	for _, s := range c.Services {
		if len(s.Problems) == 0 && !c.Verbose {
			continue
		}
		shown++
		line := "Service " + EscapeControls(s.Owner.String())
		if c.Provider == "" && s.Provider != "" {
			line += " on " + s.Provider
		}
		switch {
		case s.Left != "":
			line += " is left alone: " + s.Left
		case len(s.Problems) == 0:
			line += ": no problems"
		}
		writeWrapped(&b, width, line)
		for _, f := range s.Problems {
			writeWrapped(&b, width, f.line("  "))
		}
	}
	if c.Quiet {
		return b.String()
	}
	if shown > 0 {
		b.WriteByte('\n')
	}
	errs, warnings := c.Count()
	fmt.Fprintf(&b, "%s checked: %s, %s.\n", countOf(len(c.Services), "Service"), countOf(errs, "error"), countOf(warnings, "warning"))
	return b.String()
}

// line is a finding as one line: severity, code, place, and what is wrong.
func (f Finding) line(indent string) string {
	head := indent + string(f.Severity) + " " + f.Code
	if at := f.Position.String(); at != "" {
		head += " " + at
	}
	return EscapeControls(head + ": " + f.sentence())
}

// github are workflow commands, which GitHub shows beside the line in a pull request.
// Source: GitHub Docs, "Workflow commands for GitHub Actions".
func (c Checked) github() string {
	var b strings.Builder
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, f := range c.Findings() {
		fmt.Fprintf(&b, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", f.Severity, EscapeControls(value.Replace(f.File)), max(f.Line, 1), max(f.Column, 1),
			value.Replace(f.Code), EscapeControls(text.Replace(f.sentence())))
	}
	return b.String()
}

// A report in the form that code scanners share.
// Source: OASIS, SARIF 2.1.0.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		Help             sarifText `json:"help"`
		HelpURI          string    `json:"helpUri"`
		Configuration    struct {
			Level plan.Severity `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     plan.Severity   `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		// Fingerprints identify a finding when the lines of its file move.
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region sarifRegion `json:"region"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
)

func (c Checked) sarif() sarifLog {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "berth", Version: c.Version, InformationURI: "https://github.com/berth-lb/berth"}
	for _, d := range annotations.Codes() {
		rule := sarifRule{ID: string(d.Code), ShortDescription: sarifText{d.Title},
			FullDescription: sarifText{d.Doc}, Help: sarifText{d.Fix}, HelpURI: codePages + strings.ToLower(string(d.Code)) + "/"}
		rule.Configuration.Level = plan.Warning
		if d.Severity == string(plan.Error) {
			rule.Configuration.Level = plan.Error
		}
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, rule)
	}
	for _, f := range c.Findings() {
		at := sarifPhysical{Region: sarifRegion{StartLine: max(f.Line, 1), StartColumn: max(f.Column, 1)}}
		at.Artifact.URI = f.File
		run.Results = append(run.Results, sarifResult{RuleID: f.Code, Level: f.Severity, Message: sarifText{f.sentence()}, Locations: []sarifLocation{{at}},
			Fingerprints: map[string]string{"problem/v1": fingerprintOf(f)}})
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// fingerprintOf identifies a finding by its rule, file, field and text.
func fingerprintOf(f Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Code, f.File, f.Where, f.Text}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// EscapeControls returns a text with control characters escaped: a terminal must not take
// the name of an object for a command.
func EscapeControls(text string) string {
	if !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A report in the form of JUnit, which CI systems show as tests: a Service is a
// test, errors are failures, warnings are its output.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string         `xml:"name,attr"`
		Classname string         `xml:"classname,attr"`
		File      string         `xml:"file,attr,omitempty"`
		Line      int            `xml:"line,attr,omitempty"`
		Failures  []junitFailure `xml:"failure"`
		Skipped   *junitFailure  `xml:"skipped"`
		Out       string         `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
	}
)

func (c Checked) junit() (string, error) {
	suite := junitSuite{Name: "berth check"}
	for _, f := range c.Files {
		suite.add(junitCase{Name: f.File, Classname: "file", File: f.File, Line: f.Line}, f)
	}
	for _, s := range c.Services {
		one := junitCase{Name: s.Owner.String(), Classname: "Service", File: s.File, Line: s.Line}
		if s.Left != "" {
			one.Skipped = &junitFailure{Message: s.Left}
		}
		suite.add(one, s.Problems...)
	}
	body, err := xml.MarshalIndent(suite, "", "  ")
	if err != nil {
		return "", fmt.Errorf("output as XML: %w", err)
	}
	return xml.Header + string(body) + "\n", nil
}

func (s *junitSuite) add(one junitCase, findings ...Finding) {
	for _, f := range findings {
		if f.Severity == plan.Error {
			one.Failures = append(one.Failures, junitFailure{Type: f.Code, Message: f.line("")})
		} else {
			one.Out += f.line("") + "\n"
		}
	}
	s.Tests++
	if len(one.Failures) > 0 {
		s.Failures++
	}
	s.Cases = append(s.Cases, one)
}
