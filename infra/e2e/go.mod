module kvinfra/infra/e2e

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/valkey-io/valkey-go v1.0.79
	go.yaml.in/yaml/v3 v3.0.5
)

require golang.org/x/sys v0.47.0 // indirect
