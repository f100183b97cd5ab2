"""Building blocks shared by the packages of projects."""
