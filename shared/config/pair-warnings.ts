import { isProduction, trustsLoopback } from './production.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { listenerOf } from './local-origin.ts';
import { relyingPartyId } from './relying-party.ts';
import type { Config } from './schema.ts';
import { warn, type Warning } from './warning-texts.ts';
import type { Words } from '#shared/refusals/words.ts';

/** The members that the warnings read. */
export type PairMembers = Pick<
  Config,
  'issuer' | 'clients' | 'people' | 'mail' | 'security' | 'spaces' | 'trustedProxies'
> &
  Parameters<typeof isProduction>[0];

/** Returns the settings outside the spaces that can be used but are probably a mistake at the time `now`. */
export function pairWarnings(config: PairMembers, now: number): readonly Warning[] {
  return Object.entries(WARNINGS).flatMap(([path, warning]) => {
    const words = warning(config, now);
    return words === undefined ? [] : [{ path, ...words }];
  });
}

/** Ports of mail servers by how TLS begins there (RFC 8314 section 3.3). */
const TLS_OF_PORT: Readonly<Record<number, 'implicit' | 'starttls'>> = {
  25: 'starttls',
  465: 'implicit',
  587: 'starttls',
};

/** The most spaces that a warning names by URL. If there are more, the warning has their number. */
const MOST_NAMED = 5;

/** The port where the server with this public origin listens in development, if it is another one. */
function portElsewhere(config: PairMembers, listener: 'authz' | 'resource'): Words | undefined {
  const member = listener === 'authz' ? 'issuer' : 'resource';
  const { port } = config.listen[listener];
  const { protocol, port: expected } = new URL(config[member]);
  const isElsewhere = protocol === 'http:' && port !== 0 && String(port) !== (expected || '80');
  return isElsewhere && !isProduction(config)
    ? warn('port-elsewhere', { port, member, url: config[member] })
    : undefined;
}

/** The warnings by the setting that they are about. */
const WARNINGS: Readonly<Record<string, (config: PairMembers, now: number) => Words | undefined>> =
  {
    issuer: (config) => (relyingPartyId(config) === undefined ? warn('issuer-address') : undefined),
    'listen.host': (config) => {
      const { host } = config.listen;
      if (isLoopback(host) || isProduction(config)) return undefined;
      return warn('development-listens', { host });
    },
    'listen.authz.port': (config) => portElsewhere(config, 'authz'),
    'listen.resource.port': (config) => portElsewhere(config, 'resource'),
    'security.expires': ({ security }, now) =>
      security && Date.parse(security.expires) <= now ? warn('contacts-over') : undefined,
    // Both servers speak clear text there, so a proxy ends TLS.
    trustedProxies: (config) => {
      const { issuer, trustedProxies } = config;
      if (!isProduction(config) || !issuer.startsWith('https:')) return undefined;
      const isHere = isLoopback(listenerOf(config, 'authz').host);
      if (isHere ? trustsLoopback(config) : trustedProxies.length > 0) return undefined;
      return warn(isHere ? 'proxy-here' : 'proxy-elsewhere');
    },
    'clients.documents': (config) => {
      const { clients, spaces } = config;
      const { documents } = clients;
      const opened = spaces.findIndex(({ documentClients }) => documentClients.length > 0);
      if (documents === 'off' && opened !== -1) {
        return warn('documents-off', { setting: `spaces.${opened}.documentClients` });
      }
      if (documents === 'allow' && opened !== -1 && isProduction(config)) {
        return warn('documents-of-all');
      }
      return documents === undefined || documents === 'off' || opened !== -1
        ? undefined
        : warn('documents-for-nothing');
    },
    'people.registration': ({ people, spaces }) => {
      if (people.registration !== 'open') return undefined;
      const open = spaces.filter(({ allow, schemes }) => allow === undefined && schemes.length > 0);
      if (open.length === 0) return undefined;
      const named = open.slice(0, MOST_NAMED).map(({ url }) => url);
      const more = open.length > MOST_NAMED ? ` (+ ${open.length - MOST_NAMED})` : '';
      return warn('registration-open', { spaces: `${named.join(', ')}${more}` });
    },
    'people.secondFactor': ({ people, spaces }) => {
      if (people.secondFactor !== 'off') return undefined;
      const asking = spaces.findIndex(({ authentication = [] }) =>
        authentication.some(({ acr }) => acr === 'second-factor'),
      );
      return asking === -1
        ? undefined
        : warn('second-factor-off', { setting: `spaces.${asking}.authentication` });
    },
    'mail.tls': ({ mail }) => {
      const usual = mail && TLS_OF_PORT[mail.port];
      return mail === undefined || usual === undefined || usual === mail.tls
        ? undefined
        : warn('mail-tls', { tls: mail.tls, usual, port: mail.port });
    },
  };
