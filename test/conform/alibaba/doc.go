// Package conform compares the requests and answers of the Alibaba Cloud provider and its simulator with the models
// of the vendor's SDKs. An action, a parameter or a field that they lack and a value of another type fail the test,
// unless they are a listed gap with its source.
//
// The models of the SLB, ECS and VPC APIs are those of the SDK that the official controller uses. That of the NLB
// API is of 2023: no later release is one that modules can require. The program sdk prints the models.
//
// Start at TestModels.
package conform
