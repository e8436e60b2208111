"""What `make bench` is made of; see benches/README.md."""
