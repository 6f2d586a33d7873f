module github.com/weirhq/ratelimit

go 1.26.0

require (
	github.com/go-chi/chi/v5 v5.5.0
	github.com/google/go-cmp v0.7.0
	github.com/realclientip/realclientip-go v1.0.0
)

require github.com/dunglas/httpsfv v1.1.2 // indirect
