package spec

import (
	"errors"
	"fmt"
	"strings"
)

// AuthConfig returns the server's configuration lines for a password: the one it
// asks clients for, and the one it shows to its primary.
func AuthConfig(password string) (string, error) {
	if password == "" {
		return "", errors.New("password: is empty; the server would take commands from everybody")
	}
	quoted := quote(password)
	return fmt.Sprintf("requirepass %s\nmasterauth %s\n", quoted, quoted), nil
}

// quote writes s as the server's configuration parser reads it: in double quotes,
// with \" \\ and \xHH inside.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
