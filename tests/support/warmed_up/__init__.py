"""What a fork server has done before it forks: it imports one of these modules."""
