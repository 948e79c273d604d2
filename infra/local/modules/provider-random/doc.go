// Command pulumi-resource-random serves random values to Pulumi programs. It is
// put together as Pulumi's provider of that name is: the Terraform provider of
// the same commit behind Pulumi's bridge. It leaves out the schema, which only
// code generators ask for, and the names that resources had in older versions.
//
// It exists for machines that cannot download Pulumi's plugins, because module
// proxies serve no github.com/pulumi/pulumi-random/provider/v4. Once they do,
// take that instead; delete the folder when the downloads are always within reach.
package main
