package aws_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	simaws "github.com/berth-lb/berth/test/sim/aws"
)

// walker calls operations of an official client by their names. careful is the
// client as it is, which knows the required members of the vendor's model;
// careless leaves its check out, so that the simulator has to refuse.
type walker struct{ careful, careless reflect.Value }

func skipValidation(stack *middleware.Stack) error {
	// Operations without required members have no such check to remove.
	_, _ = stack.Initialize.Remove("OperationInputValidation")
	return nil
}

// newWalkers returns the clients of the three services on one simulator.
func newWalkers(t *testing.T) map[string]walker {
	t.Helper()
	config := startClients(t, simaws.Options{}).Config
	config.RetryMaxAttempts = 1
	free := config.Copy()
	free.APIOptions = append(free.APIOptions, skipValidation)
	return map[string]walker{
		"elb":   {reflect.ValueOf(elb.NewFromConfig(config)), reflect.ValueOf(elb.NewFromConfig(free))},
		"elbv2": {reflect.ValueOf(elbv2.NewFromConfig(config)), reflect.ValueOf(elbv2.NewFromConfig(free))},
		"ec2":   {reflect.ValueOf(ec2.NewFromConfig(config)), reflect.ValueOf(ec2.NewFromConfig(free))},
	}
}

// operations lists the client's operations with an empty input for each.
func (w walker) operations() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	kind := w.careful.Type()
	for i := range kind.NumMethod() {
		m := kind.Method(i)
		if m.Type.NumIn() == 4 && m.Type.In(2).Kind() == reflect.Pointer && m.Type.In(2).Elem().Name() == m.Name+"Input" {
			out[m.Name] = m.Type.In(2).Elem()
		}
	}
	return out
}

func callOperation(ctx context.Context, client reflect.Value, operation string, input reflect.Value) error {
	out := client.MethodByName(operation).Call([]reflect.Value{reflect.ValueOf(ctx), input})
	err, _ := out[1].Interface().(error)
	return err
}

// required asks the careful client which members it misses in an empty call.
func (w walker) required(ctx context.Context, operation string, input reflect.Type) []string {
	err := callOperation(ctx, w.careful, operation, reflect.New(input))
	var missing smithy.InvalidParamsError
	if !errors.As(err, &missing) {
		return nil
	}
	var out []string
	for _, e := range missing.Errs() {
		var p smithy.InvalidParamError
		if errors.As(e, &p) {
			out = append(out, p.Field()[strings.LastIndex(p.Field(), ".")+1:])
		}
	}
	return out
}

// lowerFirst returns a member's name as the load balancers spell it in their errors.
func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// TestEveryLoadBalancerOperationNamesWhatIsMissing walks what is served of both models.
func TestEveryLoadBalancerOperationNamesWhatIsMissing(t *testing.T) {
	members := 0
	for service, w := range newWalkers(t) {
		if service == "ec2" {
			continue
		}
		for operation, input := range w.operations() {
			err := callOperation(t.Context(), w.careless, operation, reflect.New(input))
			want := w.required(t.Context(), operation, input)
			if errorCode(err) == "InvalidAction" || len(want) == 0 {
				continue
			}
			members += len(want)
			if errorCode(err) != "ValidationError" {
				t.Errorf("%s.%s without %v: %v, want ValidationError", service, operation, want, err)
				continue
			}
			for _, name := range want {
				if !strings.Contains(err.Error(), "Value null at '"+lowerFirst(name)+"'") {
					t.Errorf("%s.%s without %s: %v, want it named", service, operation, name, err)
				}
			}
		}
	}
	if members < 70 {
		t.Errorf("%d required members, want those of all that is served, at least 70", members)
	}
}

// TestEveryServedMachineOperationMissesWhatIsMissing does the same for EC2, which
// names one missing parameter at a time.
func TestEveryServedMachineOperationMissesWhatIsMissing(t *testing.T) {
	w := newWalkers(t)["ec2"]
	served := 0
	for operation, input := range w.operations() {
		err := callOperation(t.Context(), w.careless, operation, reflect.New(input))
		if errorCode(err) == "InvalidAction" {
			continue
		}
		served++
		want := w.required(t.Context(), operation, input)
		// Calls on no machine at all are refused with words of their own.
		if len(want) > 0 && !slices.Contains([]string{"MissingParameter", "InvalidParameterCombination"}, errorCode(err)) {
			t.Errorf("%s without %v: %v, want MissingParameter", operation, want, err)
		}
	}
	if served != 17 {
		t.Errorf("%d operations of EC2 are served, want 17", served)
	}
}

// TestEveryWordOutsideAnEnumerationIsRefused sends a word that is no member of
// the enumeration in each top-level parameter that has one.
func TestEveryWordOutsideAnEnumerationIsRefused(t *testing.T) {
	words := 0
	for service, w := range newWalkers(t) {
		if service == "ec2" {
			continue
		}
		for operation, input := range w.operations() {
			for i := range input.NumField() {
				field := input.Field(i)
				list := field.Type.Kind() == reflect.Slice
				kind := field.Type
				if list {
					kind = kind.Elem()
				}
				if _, enum := kind.MethodByName("Values"); !enum || kind.Kind() != reflect.String {
					continue
				}
				in, word := reflect.New(input), reflect.ValueOf("bogus").Convert(kind)
				if list {
					word = reflect.Append(reflect.Zero(field.Type), word)
				}
				in.Elem().Field(i).Set(word)
				err := callOperation(t.Context(), w.careless, operation, in)
				if errorCode(err) == "InvalidAction" {
					continue
				}
				words++
				if errorCode(err) != "ValidationError" || !strings.Contains(err.Error(), "satisfy enum value set") {
					t.Errorf("%s.%s with %s bogus: %v, want ValidationError", service, operation, field.Name, err)
				}
			}
		}
	}
	if words < 12 {
		t.Errorf("%d enumerations, want those of all that is served, at least 12", words)
	}
}
