package aws_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/test/props"
	"github.com/berth-lb/berth/test/sim/virtual"
)

// element is a part of an answer of AWS.
type element struct {
	name string
	text string
	in   []*element
}

// readElement reads an answer as a tree, without namespaces.
func readElement(d *xml.Decoder, into *element) error {
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			child := &element{name: t.Name.Local}
			into.in = append(into.in, child)
			if err := readElement(d, child); err != nil {
				return err
			}
		case xml.CharData:
			into.text += string(t)
		case xml.EndElement:
			return nil
		}
	}
}

func (e *element) write(b *bytes.Buffer) {
	for _, c := range e.in {
		b.WriteString("<" + c.name + ">")
		if len(c.in) == 0 {
			_ = xml.EscapeText(b, []byte(c.text)) // a buffer takes everything
		}
		c.write(b)
		b.WriteString("</" + c.name + ">")
	}
}

// child returns the text of the first member of a name, and whether there is one.
func (e *element) child(name string) string {
	for _, c := range e.in {
		if c.name == name {
			return c.text
		}
	}
	return ""
}

// optionalMembers are members of answers with the values that AWS documents as their defaults. No
// member is required in the API models of the SDKs.
// Source: API references of Elastic Load Balancing, versions 2012-06-01 and 2015-12-01.
func optionalMembers() map[string]string {
	return map[string]string{
		"EnablePrefixForIpv6SourceNat": "off", "IpAddressType": "ipv4", "TargetControlPort": "",
		"EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic": "on",
		"CrossZoneLoadBalancing":                               "false", "AccessLog": "false", "ConnectionDraining": "false",
	}
}

// attributeDefaults are attributes with the values that AWS gives them.
// Source: Elastic Load Balancing User Guide, attributes of load balancers, target groups and listeners.
func attributeDefaults() map[string]string {
	return map[string]string{
		"access_logs.s3.enabled": "false", "access_logs.s3.bucket": "", "access_logs.s3.prefix": "", "deletion_protection.enabled": "false",
		"load_balancing.cross_zone.enabled": "false", "proxy_protocol_v2.enabled": "false", "preserve_client_ip.enabled": "true",
		"tcp.idle_timeout.seconds": "350", "deregistration_delay.timeout_seconds": "300",
	}
}

// omitDefaults leaves out what has its default value, and lists without members.
func omitDefaults(e *element) {
	e.in = slices.DeleteFunc(e.in, func(c *element) bool {
		omitDefaults(c)
		if value, ok := optionalMembers()[c.name]; ok && (c.text == value || c.child("Enabled") == value) {
			return true
		}
		value, ok := attributeDefaults()[c.child("Key")]
		return ok && c.name == "member" && c.child("Value") == value || len(c.in) == 0 && strings.TrimSpace(c.text) == "" && !strings.HasSuffix(c.name, "Result")
	})
}

// reverseLists reverses the lists: AWS promises no order.
func reverseLists(e *element) {
	for _, c := range e.in {
		reverseLists(c)
	}
	if len(e.in) > 0 && (e.in[0].name == "member" || e.in[0].name == "item") {
		slices.Reverse(e.in)
	}
}

// rewritten is a cloud whose answers are changed on their way.
type rewritten struct {
	http.Handler
	change func(*element)
}

func (c rewritten) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	c.Handler.ServeHTTP(answer, r)
	body, tree := answer.Body.Bytes(), &element{}
	if err := readElement(xml.NewDecoder(bytes.NewReader(body)), tree); err == nil && answer.Code == http.StatusOK {
		c.change(tree)
		var out bytes.Buffer
		tree.write(&out)
		body = out.Bytes()
	}
	for name, values := range answer.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body) // a client that has left needs no answer
}

// TestUnpromised: a Service is served, found again and released also where AWS leaves out of its
// answers what has its default value, or lists things in another order. Other implementations of
// its API do both.
func TestUnpromised(t *testing.T) {
	setCredentials(t)
	cases := append(append(propsCases(), controllerCases()...), casesWithoutGroups()...)
	for name, change := range map[string]func(*element){"terse": omitDefaults, "reversed": reverseLists} {
		for _, c := range append(cases, tcpUDP()) {
			t.Run(name+"/"+c.Name, func(t *testing.T) {
				virtual.Test(t, func(t *testing.T) {
					s, _ := freshController(t).(podded)
					running := *s.running
					running.URL = virtual.Start(t, rewritten{running.Cloud, change})
					s.running = &running
					w := &groupWorld{T: t, s: s, gates: props.Pass}
					w.restart()
					before := w.state()
					w.good(c.Service)
					w.restart()
					w.unchanged(reconcile.Job{Service: c.Service})
					w.release(c.Service)
					if after := w.state(); after != before {
						t.Errorf("after the release the cloud is not as before:\n%s\nwas\n%s", after, before)
					}
				})
			})
		}
	}
}

// unchanged fails unless the process finds nothing to do for a Service that it serves.
func (w *groupWorld) unchanged(job reconcile.Job) {
	w.Helper()
	job.Slices = w.s.Slices(job.Service)
	d, err := w.r.Draft(w.Context(), job)
	if err != nil {
		w.Fatal(err)
	}
	if !d.Plan.Empty() {
		w.Errorf("a new process wants to change something:\n%s", plan.Human(plan.NewDocument("aws", []plan.Plan{d.Plan}), plan.Options{}))
	}
}
