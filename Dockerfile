# One image for both servers: start runs both, start authz or start resource one of them. Other commands run, too.
FROM node:26.10.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json e2e/image-packages.js ./
RUN node image-packages.js && npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node --input-type=module --eval "import { bundle } from './e2e/bundle.ts'; bundle('dist', { packages: 'external' });" && rm -rf node_modules/esbuild node_modules/@esbuild node_modules/.bin

FROM node:26.10.0-bookworm-slim
LABEL org.opencontainers.image.title="Countersign" \
      org.opencontainers.image.description="An OAuth 2.0 authorization server and an HTTP resource server whose JWTs can be revoked at once" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/LICENSE /app/package.json ./
COPY --from=build /app/shared/cli/countersign.js /app/shared/cli/packaged-node.js shared/cli/
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN ln -s /app/shared/cli/countersign.js /usr/local/bin/countersign && install -d -o node -g node -m 0700 /data
USER node
# Listens at any address of the container. The operator decides who reaches its ports.
ENV COUNTERSIGN_DATA=/data COUNTERSIGN_LISTEN=0.0.0.0
VOLUME /data
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["countersign", "server", "ready"]
ENTRYPOINT ["countersign"]
CMD ["start"]
