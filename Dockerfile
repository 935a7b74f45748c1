# syntax=docker/dockerfile:1
# An image with the programs alone.
#
#     docker build -t lookalike .
#     docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" lookalike run crawl/ -o out
#
# NOT RUN YET: where this file was written, there was no Docker daemon. `scripts/check-release.sh` lints it.

FROM rust:1-slim-trixie AS build
WORKDIR /source
COPY . .
RUN cargo build --locked --profile dist --features remote --bin lookalike --bin lookalike-lab

# The base has the C library of the same Debian and libgcc, and no shell or package manager. The program is not linked
# statically: with musl, its allocator would be slower and would not return memory as the budget expects.
FROM gcr.io/distroless/cc-debian13:nonroot
LABEL org.opencontainers.image.title="lookalike" \
      org.opencontainers.image.description="Find near-duplicate documents exactly, in bounded memory" \
      org.opencontainers.image.source="https://github.com/LOOKALIKE-OWNER/lookalike" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /source/target/dist/lookalike /source/target/dist/lookalike-lab /usr/local/bin/
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/lookalike/
# The user `nonroot`. To write to a mounted directory, give `docker run` a user who may write there (see above).
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/lookalike"]
