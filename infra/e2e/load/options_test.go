package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheOptionsAreThoseThatThePageRecommends reads both: figures that are measured
// with other options than a reader's are none.
func TestTheOptionsAreThoseThatThePageRecommends(t *testing.T) {
	page, err := os.ReadFile("../../../components/hotkv/README.md")
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), "clients.go", nil, 0)
	require.NoError(t, err)
	found := 0
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Name.Name != "valkeyGoTuned" && f.Name.Name != "goRedisTuned" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			option, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			name := option.Key.(*ast.Ident).Name
			switch name {
			case "InitAddress", "Addrs", "Password":
				return false
			case "ClusterOption":
				return true // its parts
			case "DialCtxFn":
				name = "Dialer.Timeout"
			case "Dialer":
				name = "DialTimeout"
			}
			found++
			assert.Regexp(t, fmt.Sprintf("\\b%s`( and `\\w+`)?%s", name, value(option.Value)), string(page))
			return false
		})
	}
	assert.Equal(t, 13, found)
}

// value is what the page has behind the name of an option.
func value(e ast.Expr) string {
	text := ""
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text += " " + n.Value
		case *ast.SelectorExpr:
			switch n.Sel.Name {
			case "Millisecond":
				text += " ms"
			case "Second":
				text += " 1 s"
			}
		}
		return true
	})
	return text
}
