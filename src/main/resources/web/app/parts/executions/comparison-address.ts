/** The address of the page that compares two executions, given by their identifiers. */
export const comparisonOf = (one: string, other: string): string =>
  `/executions/compare?one=${one}&other=${other}`;
