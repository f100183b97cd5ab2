"""Help of the model for staff: drafts and translations. Staff reads them before anything is sent."""
