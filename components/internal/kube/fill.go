package kube

// Fill gives v the default d when it is zero.
func Fill[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
