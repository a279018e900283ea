package offline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/annotations"
	"github.com/berth-lb/berth/stack/plan"
)

// objects is what files hold.
type objects struct {
	services   []Item
	nodes      []*corev1.Node
	namespaces labelsByName
	slices     []*discoveryv1.EndpointSlice
	notes      []string
	// lenient reading skips documents that are no Kubernetes objects or cannot be read;
	// faults lists the latter.
	lenient bool
	faults  []Finding
	passed  passed
}

// head is what tells one object from another.
type head struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// errNoObject means that a text is YAML and no Kubernetes object.
var errNoObject = errors.New("not a Kubernetes object")

// template is what every template of Helm has and no YAML that stands for itself.
const template = "{{"

// decode takes every document of a stream. The name of the stream leads errors
// and notes; inFolder says that the user named its folder only.
func (o *objects) decode(name string, r io.Reader, inFolder bool) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n, services := 0, len(o.services)
	var broken []Finding
	for _, d := range splitDocuments(body) {
		if len(bytes.TrimSpace(d.text)) == 0 {
			continue
		}
		n++
		where := name
		if n > 1 {
			where = fmt.Sprintf("%s, document %d", name, n)
		}
		err := o.document(where, name, d)
		switch {
		case err == nil:
		case !o.lenient:
			return err
		case errors.Is(err, errNoObject):
			o.passed.add(noObject, where, err.Error())
		case bytes.Contains(d.text, []byte(template)):
			o.passed.add(isTemplate, name, "")
		case !mayBeService(d.text):
			o.passed.add(unreadableOther, where, strings.Join(strings.Fields(err.Error()), " "))
			broken = append(broken, reportUnreadable(placeOf(name, d), strings.TrimPrefix(err.Error(), where+": ")))
		default:
			o.faults = append(o.faults, reportUnreadable(placeOf(name, d), strings.TrimPrefix(err.Error(), where+": ")))
		}
	}
	if !inFolder && len(o.services) == services {
		o.faults = append(o.faults, broken...) // the user named this file, and nothing in it was checked
	}
	return nil
}

// reportUnreadable returns the finding for a document that cannot be read, at the line or the
// field that the text names.
func reportUnreadable(at place, text string) Finding {
	position := at.positionOf("")
	field, _, _ := strings.Cut(text, ": ")
	if node := followPath(at.node, field); node != nil {
		position.Line, position.Column = at.offset+node.Line, node.Column
	}
	before, rest, _ := strings.Cut(text, "line ")
	digits, after, _ := strings.Cut(rest, ": ")
	if n, err := strconv.Atoi(digits); err == nil {
		position.Line, position.Column = at.offset+n, 1
		text = before + after
	}
	text = strings.Join(strings.Fields(text), " ") // the library lists on lines of their own
	return Finding{Position: position, Problem: plan.Problem{Severity: plan.Error, Code: string(annotations.CodeFile), Text: text}}
}

// document takes one document.
func (o *objects) document(where, name string, d document) error {
	body := d.text
	if !json.Valid(body) { // JSON may be indented with tabs, which YAML does not allow
		var err error
		if body, err = sigsyaml.YAMLToJSONStrict(d.text); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return nil // comments, or nothing between two separators
	}
	return o.object(where, body, head{}, placeOf(name, d))
}

// object takes one object or list. What an object of a list does not say of
// itself, the list has said.
func (o *objects) object(where string, body []byte, list head, at place) error {
	h := list
	if err := json.Unmarshal(body, &h); err != nil {
		return fmt.Errorf("%s: %w: %w", where, errNoObject, err)
	}
	if h.APIVersion != "v1" && (h.Kind == "Service" || h.Kind == "Node" || h.Kind == "Namespace") {
		if o.lenient && strings.Contains(h.APIVersion, "/") {
			o.passed.add(otherKind, where, h.APIVersion+" "+h.Kind) // another program's kind of the same name
			return nil
		}
		return fmt.Errorf("%s: apiVersion %q: a %s is of v1", where, h.APIVersion, h.Kind)
	}
	switch h.Kind {
	case "Service":
		return o.service(where, body, at)
	case "Node":
		return o.node(where, body)
	case "Namespace":
		return o.namespace(where, body)
	case "EndpointSlice":
		return o.endpointSlice(where, body)
	case "List", "ServiceList", "NodeList", "NamespaceList", "EndpointSliceList":
		return o.list(where, h, at)
	case "":
		return fmt.Errorf("%s: %w: it has no kind", where, errNoObject)
	}
	o.passed.add(otherKind, where, h.Kind)
	return nil
}

func (o *objects) list(where string, h head, at place) error {
	of := map[string]string{"ServiceList": "Service", "NodeList": "Node", "NamespaceList": "Namespace", "EndpointSliceList": "EndpointSlice"}[h.Kind]
	for i, item := range h.Items {
		if err := o.object(fmt.Sprintf("%s, item %d", where, i+1), item, head{APIVersion: h.APIVersion, Kind: of}, at.item(i)); err != nil {
			return err
		}
	}
	return nil
}

func (o *objects) node(where string, body []byte) error {
	node := &corev1.Node{}
	if err := json.Unmarshal(body, node); err != nil {
		return fmt.Errorf("%s: node: %w", where, err)
	}
	if node.Name == "" {
		return fmt.Errorf("%s: node: metadata.name is missing", where)
	}
	if slices.ContainsFunc(o.nodes, func(n *corev1.Node) bool { return n.Name == node.Name }) {
		if o.lenient {
			o.passed.add(nodeAgain, where, node.Name)
			return nil
		}
		return fmt.Errorf("%s: node %q is defined twice", where, node.Name)
	}
	o.nodes = append(o.nodes, node)
	return nil
}

// namespace takes the labels of a Namespace, which on some clouds decide on Services.
func (o *objects) namespace(where string, body []byte) error {
	ns := &corev1.Namespace{}
	if err := json.Unmarshal(body, ns); err != nil {
		return fmt.Errorf("%s: namespace: %w", where, err)
	}
	if ns.Name == "" {
		return fmt.Errorf("%s: namespace: metadata.name is missing", where)
	}
	if _, twice := o.namespaces[ns.Name]; twice {
		if o.lenient { // one folder may hold several environments
			o.passed.add(namespaceAgain, where, ns.Name)
			return nil
		}
		return fmt.Errorf("%s: namespace %q is defined twice", where, ns.Name)
	}
	if o.namespaces == nil {
		o.namespaces = labelsByName{}
	}
	o.namespaces.put(ns)
	return nil
}

// service adds a Service. Fields that the API server would refuse do not end the
// reading: all errors are reported at once.
func (o *objects) service(where string, body []byte, at place) error {
	var raw map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&raw); err != nil {
		return fmt.Errorf("%s: service: %w", where, err)
	}
	problems := onlyStrings(raw)
	body, err := json.Marshal(raw)
	if err != nil {
		return fmt.Errorf("%s: service: %w", where, err)
	}
	svc := &corev1.Service{}
	_, _, err = newStrictDecoder().Decode(body, nil, svc)
	var wrongType *json.UnmarshalTypeError
	switch dropped, isDropped := runtime.AsStrictDecodingError(err); {
	case isDropped:
		for _, e := range dropped.Errors() {
			problems = append(problems, plan.Problem{Severity: plan.Warning, Code: string(annotations.CodeDropped),
				Text: e.Error() + ": kubectl refuses it, the API server drops it"})
		}
	case errors.As(err, &wrongType):
		field := cmp.Or(at.fieldOfType(wrongType.Field, wrongType.Value), wrongType.Field)
		return fmt.Errorf("%s: %s: is %s, must be %s", where, field, withArticle(wrongType.Value), typeName(wrongType.Type))
	case err != nil:
		return fmt.Errorf("%s: service: %w", where, err)
	}
	if svc.Name == "" {
		return fmt.Errorf("%s: service: metadata.name is missing", where)
	}
	o.services = append(o.services, Item{Service: svc, Problems: problems, Asked: true, Written: true, at: at})
	return nil
}

func newStrictDecoder() *kjson.Serializer {
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})
}
