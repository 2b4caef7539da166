"""HTTP only: pages for people, JSON for programs; what they do is decided below."""
