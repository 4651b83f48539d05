/** Texts of the page of schedules. */
export const text = {
  title: "Schedules",
  create: "New schedule",
  changing: "Creating or changing schedules",
};
