"""Known differences of flatten, with reasons. A case that passes again must leave this list."""
GAPS = {
    ("acl-default-parent", "spec"): "a directory that umoci makes on the way inherits a default ACL",
}
