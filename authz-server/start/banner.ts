import { CLI, DOCUMENTATION } from '#shared/base/invocation.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { columns, printable } from '#shared/base/printable.ts';
import { isProduction } from '#shared/config/production.ts';
import { proxyUrl } from '#shared/config/proxy-url.ts';
import type { Config } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { storeInWords } from '#shared/config/store-in-words.ts';
import { leftOutOfTour } from '#shared/config/tour.ts';
import { takesTokens } from '#shared/config/token-spaces.ts';
import type { FirstStart } from './first-start.ts';

/** Returns the lines that `countersign start` prints when the servers listen; the command adds that they are ready. */
export function banner(
  config: Config,
  made: FirstStart,
  administrator: readonly string[] = [],
): string[] {
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
    ...(isProduction(config) ? [] : [`  development           ${reached(config)}`]),
    '',
    ...spacesInWords(config),
    ...leftOutInWords(config),
    ...administrator,
    ...nextStep(config, made),
    '',
    `Documentation: ${DOCUMENTATION}`,
    '',
  ].map(printable);
}

function reached({ listen }: Config): string {
  return isLoopback(listen.host)
    ? 'for this machine alone'
    : `listens at ${listen.host}: publish its ports at 127.0.0.1 alone`;
}

/** The most spaces that are listed; further spaces are only counted. */
const MOST_SPACES = 30;

/** Lists each space with its schemes, by its path if it is at the origin of the resource server. */
function spacesInWords({ spaces, resource }: Config): readonly string[] {
  if (spaces.length === 0) return ['No spaces: the resource server has nothing to protect.', ''];
  const rest = spaces.length - MOST_SPACES;
  return [
    'Spaces of the resource server:',
    ...columns(
      spaces
        .slice(0, MOST_SPACES)
        .map(({ url, serves, schemes, hide }) => [
          `  ${url.startsWith(`${resource}/`) ? url.slice(resource.length) : url}`,
          hide === undefined || hide === 'nothing' ? serves : `${serves}, hidden`,
          schemes.join(', ') || 'open to everybody',
        ]),
    ),
    ...(rest > 0 ? [`  and ${rest} more: ${CLI} config print`] : []),
    '',
  ];
}

function leftOutInWords(config: Config): readonly string[] {
  const left = leftOutOfTour(config);
  if (left.length === 0) return [];
  return [
    `Your configuration names its own spaces. It leaves out these of the default: ${left.join(', ')}.`,
    `To keep some of them: ${CLI} config init FOLDER writes the whole default.`,
    '',
  ];
}

function nextStep(config: Config, { lines = [], firstStart }: FirstStart): readonly string[] {
  if (lines.length > 0) return lines;
  if (firstStart !== undefined) {
    return [`A person and clients to try it with, their secrets and lines to copy: ${firstStart}`];
  }
  const space = everySpace(config).find((one) => takesTokens(one) && one.serves !== 'push');
  const scopes = [...new Set(Object.values(space?.scopes ?? {}).flat())];
  return [
    'Register a client, and let a person sign in:',
    `  ${CLI} client add --name NAME --grant client_credentials --scope "${scopes.join(' ') || 'SCOPES'}"`,
    `  ${CLI} user add NAME`,
  ];
}
