// Package provider pins Pulumi's own Kubernetes provider, 4.25.0 by its commit:
// the newest one that module proxies serve. Two patches change it:
//
//   - await-observed-generation: a rolling update is awaited, as it is since 4.26.0.
//     Without it half of all updates count as done before a pod was touched.
//   - embed-published-files: two embedded files that a published module lacks.
//
// It exists for machines that cannot download Pulumi's plugins. Delete the first
// patch when a version from 4.26.0 on is pinned, the second when the module has
// the files, and the folder when Pulumi's downloads are always within reach.
package provider
