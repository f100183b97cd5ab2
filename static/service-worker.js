// The service worker of the console: shows push messages, and opens what they are about. It takes part in no request.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

function read(data) {
  try {
    return data.json();
  } catch {
    return {};
  }
}

// A browser that shows nothing for a message takes the permission back.
self.addEventListener("push", (event) => {
  const { id, title, text, url, icon } = read(event.data);
  event.waitUntil(
    self.registration.showNotification(title || "Makegood", { body: text, tag: id, icon, data: { url: url || "/" } })
  );
});

// The browser got another address at its push service. The next page that opens tells the server.
self.addEventListener("pushsubscriptionchange", (event) => {
  const options = event.oldSubscription?.options;
  if (!event.newSubscription && options) event.waitUntil(self.registration.pushManager.subscribe(options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(new URL(event.notification.data.url, self.location.origin)));
});

/** Focuses a tab that shows the address, or leads another tab of the console there, or opens one. */
async function show(address) {
  if (address.origin !== self.location.origin) return;
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const pathOf = (tab) => new URL(tab.url).pathname;
  const same = tabs.find((tab) => pathOf(tab) === address.pathname);
  if (same) return same.focus();
  const other = tabs.find((tab) => pathOf(tab).startsWith("/p/"));
  const led = other && (await other.focus().then((tab) => tab.navigate(address.href)).catch(() => null));
  if (!led) await self.clients.openWindow(address.href);
}
