// Labels of order statuses; a shop's custom status is shown as it is.
import { phrase } from "./words.js";

const STATUSES = {
  pending: phrase("Waiting for payment"),
  processing: phrase("Processing"),
  "on-hold": phrase("On hold"),
  completed: phrase("Completed"),
  cancelled: phrase("Canceled"),
  refunded: phrase("Refunded"),
  failed: phrase("Failed"),
};

export const statusIn = (status, say) => (Object.hasOwn(STATUSES, status) ? say(STATUSES[status]) : status.replaceAll("-", " "));
