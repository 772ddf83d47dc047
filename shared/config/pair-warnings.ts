import type { Mistake } from '#shared/base/mistake.ts';
import { isProduction, trustsLoopback } from './production.ts';
import { isLoopback } from '#shared/http/loopback.js';
import { relyingPartyId } from './relying-party.ts';
import type { Config } from './schema.ts';

/** The members that the warnings read. */
export type PairMembers = Pick<
  Config,
  'issuer' | 'clients' | 'people' | 'mail' | 'security' | 'spaces' | 'trustedProxies'
> &
  Parameters<typeof isProduction>[0];

/** Returns the settings outside the spaces that can be used but are probably a mistake at the time `now`. */
export function pairWarnings(config: PairMembers, now: number): readonly Mistake[] {
  return Object.entries(WARNINGS).flatMap(([path, warning]) => {
    const message = warning(config, now);
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Ports of mail servers by how TLS begins there (RFC 8314 section 3.3). */
const TLS_OF_PORT: Readonly<Record<number, 'implicit' | 'starttls'>> = {
  25: 'starttls',
  465: 'implicit',
  587: 'starttls',
};

/** So many spaces are named by URL; of more, their number. */
const MOST_NAMED = 5;

/** The port where the server with this public origin listens in development, if it is another one. */
function portElsewhere(config: PairMembers, listener: 'authz' | 'resource'): string | undefined {
  const member = listener === 'authz' ? 'issuer' : 'resource';
  const { port } = config.listen[listener];
  const { protocol, port: expected } = new URL(config[member]);
  const isElsewhere = protocol === 'http:' && port !== 0 && String(port) !== (expected || '80');
  return isElsewhere && !isProduction(config)
    ? `is ${port}, and ${member} is ${config[member]}, where clients are sent: set ${member}, too, unless a proxy is there`
    : undefined;
}

/** The warnings by the setting that they are about. */
const WARNINGS: Readonly<Record<string, (config: PairMembers, now: number) => string | undefined>> =
  {
    issuer: (config) =>
      relyingPartyId(config) === undefined
        ? 'has an IP address: browsers make and use no passkeys there (WebAuthn section 5.1.3). Use a domain, or localhost'
        : undefined,
    'listen.authz.port': (config) => portElsewhere(config, 'authz'),
    'listen.resource.port': (config) => portElsewhere(config, 'resource'),
    'security.expires': ({ security }, now) =>
      security && Date.parse(security.expires) <= now
        ? 'is over: /.well-known/security.txt is 404. See whether the contacts are still right, and set a new time'
        : undefined,
    // Both servers speak clear text there, so a proxy ends TLS.
    trustedProxies: (config) => {
      const { issuer, listen, trustedProxies } = config;
      if (!isProduction(config) || !issuer.startsWith('https:')) return undefined;
      const isHere = isLoopback(listen.authz.host);
      if (isHere ? trustsLoopback(config) : trustedProxies.length > 0) return undefined;
      return `lacks ${isHere ? '127.0.0.1, where' : 'the address from which'} the proxy in front connects: everybody counts as one address for limits and in lists`;
    },
    'clients.documents': (config) => {
      const { clients, spaces } = config;
      const { documents } = clients;
      const opened = spaces.findIndex(({ documentClients }) => documentClients.length > 0);
      if (documents === 'off' && opened !== -1) {
        return `is off, so that spaces.${opened}.documentClients lets in only what client add --document registers. If that is not meant, name hosts`;
      }
      if (documents === 'allow' && opened !== -1 && isProduction(config)) {
        return 'is allow: anybody may describe a client, and strangers choose what the server fetches. Name hosts, or mean it';
      }
      return documents === undefined || documents === 'off' || opened !== -1
        ? undefined
        : 'takes clients that nobody registered, and no space has documentClients: they can have nothing';
    },
    'people.registration': ({ people, spaces }) => {
      if (people.registration !== 'open') return undefined;
      const open = spaces.filter(({ allow, schemes }) => allow === undefined && schemes.length > 0);
      if (open.length === 0) return undefined;
      const named = open.slice(0, MOST_NAMED).map(({ url }) => url);
      const more = open.length > MOST_NAMED ? [`and ${open.length - MOST_NAMED} more`] : [];
      return `is open: anybody may make an account and enter ${[...named, ...more].join(', ')}. Give these spaces allow with groups or people, or mean it`;
    },
    'people.secondFactor': ({ people, spaces }) => {
      if (people.secondFactor !== 'off') return undefined;
      const asking = spaces.findIndex(({ authentication = [] }) =>
        authentication.some(({ acr }) => acr === 'second-factor'),
      );
      return asking === -1
        ? undefined
        : `is off, so that nobody is asked for a code, and spaces.${asking}.authentication asks for second-factor: only people with a passkey get in there. Set it to optional`;
    },
    'mail.tls': ({ mail }) => {
      const usual = mail && TLS_OF_PORT[mail.port];
      return usual === undefined || usual === mail?.tls
        ? undefined
        : `is ${mail?.tls}, and mail servers speak ${usual} at port ${mail?.port}: set it to ${usual}, or correct mail.port`;
    },
  };
