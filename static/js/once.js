// Prevents double submission: a form is sent once until the response arrives.
(() => {
  // After this the response was lost, or was a download.
  const FORGOTTEN_MS = 10_000;

  function forget(form) {
    delete form.dataset.sent;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // Skip forms sent by scripts, which guard themselves, and selects that submit on change.
    const mayChange = form.matches("[data-submits]") || event.submitter?.matches("[data-again]");
    if (event.defaultPrevented || form.method !== "post" || mayChange) return;
    if ("sent" in form.dataset) return void event.preventDefault();
    form.dataset.sent = "";
    setTimeout(() => forget(form), FORGOTTEN_MS);
  });
  // Allow resubmission after navigating back.
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(forget));
})();
