import type { Checks, Recorded } from '../recorded.ts';
import { told, type ToldStep } from './told.ts';

export const formOf = ({ content }: Recorded['asked']) => new URLSearchParams(content.toString());

/** True if the form of a request has this member. */
export const has =
  (name: string) =>
  ({ asked }: Recorded): boolean =>
    formOf(asked).has(name);

/** True if the server has refused with this error of OAuth, for one of these causes. Without causes: for any cause. */
export const refusedBy =
  (error: string, ...causes: readonly string[]) =>
  ({ noted }: Recorded): boolean =>
    noted?.error === error && (causes.length === 0 || causes.includes(noted.cause ?? ''));

/** The checks of the client, which the authorization server makes first. */
const CLIENT_STEPS: readonly ToldStep[] = [
  {
    check: 'iss and sub of the assertion name a registered client.',
    section: 'RFC 7523 section 3',
    refuses: refusedBy('invalid_client', 'no-client'),
  },
  {
    check: 'aud names only this authorization server.',
    section: 'RFC 7523 section 3',
    refuses: refusedBy('invalid_client', 'assertion-aud'),
  },
  {
    check: 'The assertion has not expired.',
    section: 'RFC 7523 section 3',
    refuses: refusedBy('invalid_client', 'assertion-exp'),
  },
  {
    check: 'The registered key of the client has signed the assertion.',
    section: 'RFC 7515 section 5.2',
    refuses: refusedBy('invalid_client', 'assertion-key'),
  },
  {
    check: 'No request has used the jti of the assertion before.',
    section: 'RFC 7523 section 3',
    refuses: refusedBy('invalid_client', 'assertion-used'),
  },
];

/** The checks of the requested scopes and resources, which follow. */
const ASKED_STEPS: readonly ToldStep[] = [
  {
    check: 'The client may get tokens for this resource.',
    section: 'RFC 8707 section 2',
    applies: has('resource'),
    refuses: refusedBy('invalid_target'),
  },
  {
    check: 'The client may get these scopes for this resource.',
    section: 'RFC 6749 section 3.3',
    applies: has('scope'),
    refuses: refusedBy('invalid_scope'),
  },
  {
    check: 'The token was issued to this client.',
    section: 'RFC 7009 section 2.1',
    applies: has('token'),
    refuses: refusedBy('unauthorized_client'),
  },
];

/**
 * The checks of forms with a client assertion. `steps`: the checks of this exchange, which come before the common
 * checks.
 */
export const formChecks = (steps: readonly ToldStep[]): Checks =>
  told([...CLIENT_STEPS, ...steps, ...ASKED_STEPS]);

/** A request to the token or the revocation endpoint, with an assertion of the client. */
export const tokenEndpointChecks: Checks = formChecks([]);
