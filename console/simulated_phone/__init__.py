"""The simulated phone: a page on which a member plays a customer with SMS, WhatsApp and Telegram."""
