import { readToken } from '#shared/auth/schemes/negotiate/spnego.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const STEPS: readonly Step[] = [
  {
    name: 'form',
    check: 'The token is a Kerberos token, with or without SPNEGO around it.',
    section: 'RFC 4559 section 4.2',
  },
  {
    name: 'ticket',
    check: 'The ticket in the token is for the key of this server, and has not expired.',
    section: 'RFC 4120 section 3.2.3',
  },
  {
    name: 'replay',
    check: 'The authenticator in the token is new and recent.',
    section: 'RFC 4120 section 3.2.3',
  },
];

/** RFC 4559. */
export const explainNegotiate: ExplainedCredentials = ({ token68 }) => {
  const read = readToken(token68);
  return {
    parts:
      'refusal' in read ? [] : [{ name: 'opens a handshake', value: read.first ? 'yes' : 'no' }],
    checks: checksOf(STEPS, 'refusal' in read ? read : undefined, {
      ticket: 'Only the server has the key.',
      replay: 'Only the server knows which authenticators it has seen.',
    }),
  };
};
