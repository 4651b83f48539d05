/** Texts of the requirements of a build. */
export const text = {
  named: "named in the error",
};
