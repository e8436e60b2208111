//! The undoing of a reduction that answered no loss.
//!
//! RFC 5681 has no undoing; RFC 3522 (Eifel), RFC 3708 (D-SACK) and RFC 5682 (F-RTO) are other standards, which Linux
//! has: `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_try_undo_loss`, `tcp_process_loss`.
//! It needs `recovery = "rack"`. That of a lost SYN belongs to `opening`.

super::policy! {
    /// Whether a reduction is undone that answered no loss.
    Undo = "undo" {
        summary: "whether a reduction is undone whose packets were only late (needs `recovery = \"rack\"`)",
        rfc: "it stays",
        linux: "it is undone, by D-SACK, timestamps or F-RTO",
        differences: [
            {
                "a reduction whose packets were only late",
                rfc: "stays",
                linux: "is undone, in a recovery and after a timeout: by duplicates that the receiver reports \
                    (D-SACK), by the echo of a timestamp (Eifel), or by an ACK of what was sent once (F-RTO): \
                    `tcp_try_undo_recovery`, `tcp_try_undo_partial`, `tcp_try_undo_dsack`, `tcp_try_undo_loss`, \
                    `tcp_process_loss`",
            },
            {
                "what goes first when a timeout is in doubt",
                rfc: "what counts as lost",
                linux: "new data, once (RFC 5682 §3.1): `tcp_process_loss`",
            },
        ],
    }
}
