package redisstore

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"strings"
	"sync"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// script is a Lua script, run by its hash.
type script struct{ text, sha string }

var (
	takeScript   = sync.OnceValue(func() *script { return newScript("take") })
	adjustScript = sync.OnceValue(func() *script { return newScript("adjust") })
)

// newScript joins what all scripts share with the part that drives it.
func newScript(driver string) *script {
	var b strings.Builder
	for _, name := range [...]string{
		"struct", "numbers", "call", "bucket", "gcra", "fixed_window", "sliding_counter", "sliding_log", "strike", "key", driver,
	} {
		b.WriteString(luaFile(name))
	}
	hash := sha1.Sum([]byte(b.String())) // which the server names scripts by
	return &script{text: b.String(), sha: hex.EncodeToString(hash[:])}
}

func luaFile(name string) string {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic("ratelimit: " + err.Error()) // the build embeds them
	}
	return string(text)
}
