import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { BASIC_STEPS } from '#shared/explain/schemes/basic.ts';
import { answered, ofScheme, told, type ToldStep } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import { authorityOf, type FieldLine } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import type { Recorded } from '../recorded.ts';
import { userPassInClear } from './basic.ts';

const RIGHT = basicCredentials(PERSON.name, PASSWORD);

/** The credentials that a client sends to the proxy, by the name of its mistake. */
const CREDENTIALS: Readonly<Record<string, FieldLine>> = {
  password: ['Proxy-Authorization', basicCredentials(PERSON.name, `${PASSWORD}!`)],
  origin: ['Authorization', RIGHT],
};

const isMalformed = answered('400');
const isUnknown = answered('407');
const has = ({ asked }: Recorded, name: string) => asked.lines(name).length > 0;

/** The proxy checks the request before its credentials, and resolves the destination after them. */
const STEPS: readonly ToldStep[] = [
  {
    check: 'CONNECT has no content.',
    section: 'RFC 9110 section 9.3.6',
    refuses: (recorded) => isMalformed(recorded) && has(recorded, 'content-length'),
  },
  {
    check: 'The target is a host and a port.',
    section: 'RFC 9110 section 9.3.6',
    refuses: isMalformed,
  },
  {
    check: 'Proxy-Authorization has credentials. Credentials in Authorization are for servers.',
    section: 'RFC 9110 section 11.7.2',
    refuses: (recorded) => isUnknown(recorded) && !has(recorded, 'proxy-authorization'),
    reason: 'no credentials',
  },
  {
    check: 'The name is known, and the password is right.',
    section: 'RFC 7617 section 2',
    refuses: isUnknown,
    reason: 'unknown name or wrong password',
  },
  {
    check: 'The proxy permits the destination.',
    section: 'RFC 9110 section 9.3.6',
    refuses: answered('403'),
  },
];

/** The exchange of CONNECT through the proxy (RFC 9110 sections 9.3.6 and 11.7). */
export const connectExchange: Exchange = {
  name: 'connect',
  title: 'CONNECT: a tunnel through a proxy',
  about:
    'The client asks a proxy for a connection to another server, and the proxy wants credentials of its own (407). Then the proxy passes octets on in both directions without reading them, so clients use TLS in the tunnel. Here the tunnel has no TLS, so that you see the messages.',
  standard: 'RFC 9110 sections 9.3.6 and 11.7',
  document: 'how-to/forward-proxy.md',
  space: { schemes: ['Basic'] },
  mistakes: {
    password: 'Another password',
    origin: 'The credentials in the field that is for servers',
    destination: 'A destination that the proxy does not permit',
    content: 'CONNECT with content',
    port: 'A target without a port',
  },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: ofScheme(() => BASIC_STEPS),
  checksBy: { proxy: told(STEPS) },
  async perform({ send, tunnel, target, url, mistake = '' }) {
    const { authority, host } = authorityOf(url);
    const connect = { to: 'proxy', method: 'CONNECT', target: authority, fields: [] } as const;
    await send('The client asks the proxy for a tunnel to the server', connect);
    const targets: Readonly<Record<string, string>> = {
      destination: 'other.example:443',
      port: host,
    };
    const asked = {
      ...connect,
      target: targets[mistake] ?? authority,
      fields: [CREDENTIALS[mistake] ?? (['Proxy-Authorization', RIGHT] as const)],
      ...(mistake === 'content' && { content: 'hello' }),
    };
    await tunnel('The client repeats the request with credentials for the proxy', asked, {
      title: 'The client asks the server through the tunnel, with credentials for the server',
      request: { method: 'GET', target, fields: [['Authorization', RIGHT]] },
    });
  },
};
