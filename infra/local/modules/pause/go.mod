module kvinfra/infra/local/modules/pause

go 1.26.0
