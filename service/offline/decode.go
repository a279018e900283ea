package offline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/berth-lb/berth/stack/plan"
)

// objects is what files hold.
type objects struct {
	services   []Item
	nodes      []*corev1.Node
	namespaces labelsByName
	slices     []*discoveryv1.EndpointSlice
	notes      []string
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

// decode takes every document of a stream. The name of the stream leads errors
// and notes.
func (o *objects) decode(name string, r io.Reader) error {
	documents := yaml.NewYAMLReader(bufio.NewReader(r))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		where := name
		if n > 1 {
			where = fmt.Sprintf("%s, document %d", name, n)
		}
		body, err := sigsyaml.YAMLToJSONStrict(text)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
			continue // comments, or nothing between two separators
		}
		if err := o.object(where, body, head{}); err != nil {
			return err
		}
	}
}

// object takes one object or list. What an object of a list does not say of
// itself, the list has said.
func (o *objects) object(where string, body []byte, list head) error {
	h := list
	if err := json.Unmarshal(body, &h); err != nil {
		return fmt.Errorf("%s: not a Kubernetes object: %w", where, err)
	}
	if h.APIVersion != "v1" && (h.Kind == "Service" || h.Kind == "Node" || h.Kind == "Namespace") {
		return fmt.Errorf("%s: apiVersion %q: a %s is of v1", where, h.APIVersion, h.Kind)
	}
	switch h.Kind {
	case "Service":
		return o.service(where, body)
	case "Node":
		return o.node(where, body)
	case "Namespace":
		return o.namespace(where, body)
	case "EndpointSlice":
		return o.endpointSlice(where, body)
	case "List", "ServiceList", "NodeList", "NamespaceList", "EndpointSliceList":
		of := map[string]string{"ServiceList": "Service", "NodeList": "Node", "NamespaceList": "Namespace", "EndpointSliceList": "EndpointSlice"}[h.Kind]
		for i, item := range h.Items {
			if err := o.object(fmt.Sprintf("%s, item %d", where, i+1), item, head{APIVersion: h.APIVersion, Kind: of}); err != nil {
				return err
			}
		}
		return nil
	case "":
		return fmt.Errorf("%s: not a Kubernetes object: it has no kind", where)
	}
	o.notes = append(o.notes, fmt.Sprintf("%s: %s %q is not looked at", where, h.Kind, h.Metadata.Name))
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
		return fmt.Errorf("%s: node %q is there twice", where, node.Name)
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
		return fmt.Errorf("%s: namespace %q is there twice", where, ns.Name)
	}
	if o.namespaces == nil {
		o.namespaces = labelsByName{}
	}
	o.namespaces.put(ns)
	return nil
}

// service takes a Service. What the API server would refuse does not end the
// reading: all that is wrong is told at once.
func (o *objects) service(where string, body []byte) error {
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
	_, _, err = strict().Decode(body, nil, svc)
	var wrongType *json.UnmarshalTypeError
	switch dropped, isDropped := runtime.AsStrictDecodingError(err); {
	case isDropped:
		for _, e := range dropped.Errors() {
			problems = append(problems, plan.Problem{Severity: plan.Warning,
				Text: e.Error() + ": kubectl refuses it, the API server drops it"})
		}
	case errors.As(err, &wrongType):
		return fmt.Errorf("%s: %s: is a %s, must be of type %s", where, wrongType.Field, wrongType.Value, wrongType.Type)
	case err != nil:
		return fmt.Errorf("%s: service: %w", where, err)
	}
	if svc.Name == "" {
		return fmt.Errorf("%s: service: metadata.name is missing", where)
	}
	o.services = append(o.services, Item{Service: svc, Problems: problems, Asked: true, Written: true})
	return nil
}

func strict() *kjson.Serializer {
	return kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})
}
