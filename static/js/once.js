// A form goes out once, however often it is sent before the answer is there: the second press would do it all a second time.
(() => {
  // Longer than that and the answer got lost, or was a file and no page.
  const FORGOTTEN_MS = 10_000;

  function forget(form) {
    delete form.dataset.sent;
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    // A form that a script sends by itself keeps its own count; a choice that is applied at once may change its mind.
    const mayChange = form.matches("[data-submits]") || event.submitter?.matches("[data-again]");
    if (event.defaultPrevented || form.method !== "post" || mayChange) return;
    if ("sent" in form.dataset) return void event.preventDefault();
    form.dataset.sent = "";
    setTimeout(() => forget(form), FORGOTTEN_MS);
  });
  // A page that comes back by the browser's own button can be sent again.
  addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(forget));
})();
