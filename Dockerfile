# Usage: docker build -t exportlint . && docker run --rm -v "$PWD:/src" exportlint check
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY exportlint exportlint
COPY rules rules
COPY docs/exportlint.1 docs/
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir --no-index --find-links /wheels exportlint && rm -r /wheels \
    && useradd --uid 1000 --create-home exportlint
USER 1000
WORKDIR /src
ENV EXPORTLINT_CACHE_DIR=/tmp/exportlint
ENTRYPOINT ["exportlint"]
CMD ["check"]
