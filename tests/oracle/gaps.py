"""Cases in which flatten is known to differ, and why. One that passes again must leave this list.

All but the last come from libarchive's reader, which shows an entry's meaning and not its bytes.
"""
_READER = "libarchive does not tell: "
GAPS = {
    ("file-with-slash", "overlay"): _READER + "a name that ends in '/' is a directory to it",
    ("file-with-slash", "spec"): _READER + "a name that ends in '/' is a directory to it",
    ("pax-path-nul", "overlay"): _READER + "names end at a NUL",
    ("pax-path-nul", "spec"): _READER + "names end at a NUL",
    ("xattr-odd-name", "overlay"): "libarchive writes names beyond ASCII percent-encoded",
    ("xattr-odd-name", "spec"): "libarchive writes names beyond ASCII percent-encoded",
    ("xattr-libarchive", "overlay"): _READER + "LIBARCHIVE.xattr counts as SCHILY.xattr does",
    ("xattr-libarchive", "spec"): _READER + "LIBARCHIVE.xattr counts as SCHILY.xattr does",
    ("xattr-both-forms", "overlay"): _READER + "LIBARCHIVE.xattr counts as SCHILY.xattr does",
    ("type-unknown", "overlay"): _READER + "unknown types are files to it",
    ("type-unknown", "spec"): _READER + "unknown types are files to it",
    ("sparse-old", "overlay"): _READER + "a PAX time before an old GNU sparse header is lost",
    ("sparse-old", "spec"): _READER + "a PAX time before an old GNU sparse header is lost",
    ("acl-default-parent", "spec"): "a directory that umoci makes on the way inherits a default ACL",
}
