# An image of Makegood's own processes: bin/run web|replies|work|beat. PostgreSQL and Redis run elsewhere.
# BASE is any Debian with Python 3.11 or newer in its packages, such as one that mmdebstrap made.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv ca-certificates
WORKDIR /app
# Another file adds optional packages, such as requirements-s3.txt for files in a bucket.
ARG REQUIREMENTS=requirements.txt
COPY requirements*.txt ./
COPY config/runner/install.py config/runner/
RUN python3 -I config/runner/install.py ${REQUIREMENTS}
COPY . .
# The embedded servers aren't used here. PostgreSQL's clients stay, for roles and backups.
RUN python3 deploy/trim.py .venv \
 && .venv/bin/python -m compileall -q -j 2 . \
 && rm -rf .data deploy/trim.py

FROM ${BASE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 ca-certificates \
 && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* /usr/share/doc /usr/share/man /usr/share/locale \
 && groupadd --system --gid 10001 makegood \
 && useradd --system --uid 10001 --gid makegood --no-create-home --shell /usr/sbin/nologin makegood
COPY --from=build /app /app
# The software bill of materials, in CycloneDX's form
RUN python3 -I /app/deploy/sbom.py /app >/app/sbom.cdx.json
WORKDIR /app
ENV PATH=/app/.venv/bin:/app/.venv/clients:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    MAKEGOOD_DATA=/tmp/makegood \
    MAKEGOOD_ALIVE_FILE=/tmp/alive
USER 10001:10001
EXPOSE 8000
STOPSIGNAL SIGTERM
# Nothing is written outside /tmp, so the root file system can be read-only.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["bin/probe"]
CMD ["bin/run", "web", "--host", "0.0.0.0"]
