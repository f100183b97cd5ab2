"""Providers of SMS, WhatsApp and Telegram on this machine, whose customer types."""
