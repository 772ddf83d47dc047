import { parseUserPass } from '#shared/auth/schemes/basic/basic.ts';
import { parseAuthority } from '#shared/client/destinations/authority.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { authorityOf } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import type { Checks, Recorded } from '../recorded.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';

const targetOf = ({ asked }: Recorded): string => asked.words[1] ?? '';

/** The request is looked at before its credentials, and the destination is looked up after them. */
const STEPS: readonly CheckStep<Recorded>[] = [
  {
    check: 'CONNECT has no content.',
    section: 'RFC 9110 section 9.3.6',
    finds: ({ asked }) =>
      asked.lines('content-length').length === 0 ? undefined : 'CONNECT has no content',
  },
  {
    check: 'The target is a host and a port.',
    section: 'RFC 9110 section 9.3.6',
    finds: (recorded) =>
      parseAuthority(targetOf(recorded)) ? undefined : 'CONNECT needs a host and a port',
  },
  {
    check: 'Proxy-Authorization has credentials. Those in Authorization are for servers.',
    section: 'RFC 9110 section 11.7.2',
    finds: ({ asked }) =>
      asked.lines('proxy-authorization').length === 1 ? undefined : 'no credentials',
  },
  {
    check: 'The name is known, and the password is right.',
    section: 'RFC 7617 section 2',
    finds({ asked }) {
      const [value = ''] = asked.lines('proxy-authorization');
      const sent = parseUserPass(parseCredentials(value)?.token68 ?? '');
      const right = sent?.name === PERSON.name && sent.password === PASSWORD;
      return right ? undefined : 'unknown name or wrong password';
    },
  },
  {
    check: 'The proxy permits the destination.',
    section: 'RFC 9110 section 9.3.6',
    finds: (recorded) =>
      targetOf(recorded) === authorityOf(recorded.url).authority
        ? undefined
        : 'does not connect to this destination',
  },
];

/** A request for a tunnel through a proxy. */
export const connectChecks: Checks = (recorded) => checksInOrder(STEPS, recorded);
