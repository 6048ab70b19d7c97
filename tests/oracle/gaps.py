"""Cases in which flatten is known to differ, and why. One that passes again must leave this list."""
GAPS = {
    ("xattr-odd-name", "overlay"): "libarchive writes names beyond ASCII percent-encoded",
    ("xattr-odd-name", "spec"): "libarchive writes names beyond ASCII percent-encoded",
    ("acl-default-parent", "spec"): "a directory that umoci makes on the way inherits a default ACL",
}
