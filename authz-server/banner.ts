import { CLI } from '#shared/base/invocation.ts';
import { printable } from '#shared/base/printable.ts';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import { maskRedisUrl } from '#shared/config/redis-url.ts';
import type { Config } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { takesTokens } from '#shared/config/token-spaces.ts';
import type { FirstStart } from './first-start.ts';

/** What a person reads at the terminal when the servers that `countersign start` runs listen; it adds that they do. */
export function banner(config: Config, made: FirstStart): string[] {
  const { privateTokens } = config;
  const proxy = config.proxy && proxyUrl(config.proxy, config.listen.proxy);
  return [
    '',
    'Countersign runs.',
    '',
    `  authorization server  ${config.issuer}`,
    `  resource server       ${config.resource}`,
    ...(config.tls === undefined ? [] : [`  over TLS              ${config.tls.resource}`]),
    ...(proxy === undefined ? [] : [`  forward proxy         ${proxy}`]),
    ...(privateTokens === undefined ? [] : [`  token issuer          ${privateTokens.issuer}`]),
    `  store                 ${storeInWords(config)}`,
    `  data                  ${config.data}`,
    '',
    ...nextStep(config, made),
    '',
  ].map(printable);
}

function storeInWords({ store }: Config): string {
  if (store.kind === 'sqlite') return 'SQLite, in the data folder';
  return `Redis (${store.mode}): ${store.urls.map(maskRedisUrl).join(', ')}`;
}

function nextStep(config: Config, { lines = [], firstStart }: FirstStart): readonly string[] {
  if (lines.length > 0) return lines;
  if (firstStart !== undefined) {
    return [`A person and clients to try it with, their secrets and lines to copy: ${firstStart}`];
  }
  const space = everySpace(config).find(takesTokens);
  const scopes = [...new Set(Object.values(space?.scopes ?? {}).flat())];
  return [
    'Register a client, and let a person sign in:',
    `  ${CLI} client add --name NAME --grant client_credentials --scope "${scopes.join(' ') || 'SCOPES'}"`,
    `  ${CLI} user add NAME`,
  ];
}
