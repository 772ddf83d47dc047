# One image for both servers. The command may name one: node shared/start/main.js authz, or resource.
FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
# The image has its own Node; native bindings are optional packages too, so these stay.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force && rm -rf node_modules/node-linux-* node_modules/.bin/node
COPY authz-server authz-server
COPY resource-server resource-server
COPY shared shared
RUN install -d -o node -g node -m 0700 /data
USER node
ENV COUNTERSIGN_DATA=/data
# Ready when a server that runs here is, on its usual port.
HEALTHCHECK --interval=5s --timeout=3s --start-period=15s CMD ["node", "-e", "Promise.any([3000, 3001].map(async (port) => { const { ok } = await fetch(`http://127.0.0.1:${port}/health/ready?for=reading`); if (!ok) throw port; })).catch(() => process.exit(1))"]
CMD ["node", "shared/start/main.js"]
