"""What several folders of the kit share."""
