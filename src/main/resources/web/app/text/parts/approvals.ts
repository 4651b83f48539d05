/** Texts of approvals: what scripts ask people. */
export const text = {
  pending: (n: number) => (n >= 1000 ? "1000+" : `${n}`),
  details: "Details",
  comment: "Comment (optional)",
  /** The label of a field that may be left empty. */
  /** As in "Key X has the role read. It can't …". */
  decide: "approve or reject",
  approve: "Approve",
  reject: "Reject",
  working: "Working…",
  done: { approved: "Approved. The script continues.", rejected: "Rejected. The script continues." },
  states: {
    pending: "Nobody has decided yet.",
    approved: "It is approved.",
    rejected: "It is rejected.",
    expired: "Nobody has decided in time.",
    cancelled: "The job has ended before anybody has decided.",
  },
};
