"""What tests share: noise that is wrong on purpose, views, transcripts, and every estimator."""
