"""The studio: shows a session in browsers and brings back what people do there."""
