package wire

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	tcerr "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"
	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/meter"
	"github.com/berth-lb/berth/providers/tencent/model"
)

// The CLB API.
const (
	apiCLB     = "clb"
	apiVersion = "2018-03-17"
)

// answer is what the SDK decodes of an answer.
type answer struct {
	*tchttp.BaseResponse
	Response json.RawMessage `json:"Response"`
}

// fieldBalancer is the parameter of a call about a load balancer.
const fieldBalancer = "LoadBalancerId"

// params are the parameters of a call.
type params = map[string]any

// sendCall makes a call and reads its answer into out, which may be nil. The id of the request is that of
// its task.
func sendCall(ctx context.Context, client *common.Client, action string, p params, out any) (task string, err error) {
	r := tchttp.NewCommonRequest(apiCLB, apiVersion, action)
	r.SetContext(meter.WithCall(ctx, providers.Call{API: apiCLB, Operation: action}))
	if err := r.SetActionParameters(p); err != nil {
		return "", err
	}
	got := &answer{BaseResponse: &tchttp.BaseResponse{}}
	if err := client.Send(r, got); err != nil {
		return "", err
	}
	var id struct {
		RequestID string `json:"RequestId"`
	}
	if err := json.Unmarshal(got.Response, &id); err != nil {
		return "", err
	}
	if out != nil {
		err = json.Unmarshal(got.Response, out)
	}
	return id.RequestID, err
}

// refusedOf returns the refusal of an error of the SDK; false: the SDK itself has failed.
func refusedOf(err error) (*tcerr.TencentCloudSDKError, bool) {
	refusal, ok := errors.AsType[*tcerr.TencentCloudSDKError](err)
	if !ok || isOfClient(refusal.Code) {
		return nil, false
	}
	return refusal, true
}

// read makes a reading call in a region. Errors are faults.
func (s *Session) read(ctx context.Context, region, action string, p params, out any) error {
	at := s.regions.in(region)
	return at.limits.Read(ctx, errorTable(), action, func(ctx context.Context) error {
		_, err := sendCall(ctx, at.client, action, p, out)
		return err
	})
}

// readOf makes a reading call about a load balancer, in its region.
func (s *Session) readOf(ctx context.Context, balancer, action string, p params, out any) error {
	region, id := model.SplitID(balancer)
	p[fieldBalancer] = id
	return s.read(ctx, region, action, p, out)
}

// write makes a writing call in a region and returns its task. Errors are faults; Ambiguous if the call may have
// taken effect without an answer.
func (s *Session) write(ctx context.Context, region, action string, p params, out any) (task string, err error) {
	at := s.regions.in(region)
	err = at.limits.Write(ctx, errorTable(), action, func(ctx context.Context) (err error) {
		task, err = sendCall(ctx, at.client, action, p, out)
		return err
	})
	return model.IDIn(region, task), err
}

// meterLanguage says how requests and refusals are counted. Refusals have status 200.
func meterLanguage() meter.Language {
	return meter.Language{
		Name: func(r *http.Request) providers.Call {
			call, _ := meter.CallOf(r.Context())
			return call
		},
		Refusal: func(status int, _ http.Header, body []byte) providers.Answer {
			return errorTable().Answer(refusalIn(status, body))
		},
		Inside: func(_ http.Header, body []byte) (providers.Answer, bool) {
			r := refusalIn(0, body)
			return errorTable().Answer(r), r.Code != ""
		},
	}
}
