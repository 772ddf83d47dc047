import { type Refuse, refuser, type Row } from './refusal.ts';

/** Refusals of a space, for any scheme of credentials. */
export const SPACES = {
  'no-credentials': { text: 'no credentials', label: 'no-credentials' },
  'several-lines': { text: 'more than one {field}', label: 'malformed' },
  'not-credentials': { text: '{field} is not of the form of credentials', label: 'malformed' },
  'several-places': { text: 'credentials in more than one place', label: 'malformed' },
  'beside-alone': {
    text: 'an application beside credentials that stand alone',
    label: 'malformed',
  },
  'other-scheme': { text: 'a scheme that the space does not have', label: 'other-scheme' },
  'no-scheme': { text: 'a token without a scheme: write Bearer before it', label: 'malformed' },
  'cross-site': { text: 'sent by a page of another origin', label: 'cross-site' },
  'not-allowed': { text: 'none of those whom the space allows', label: 'not-allowed' },
  'not-in-directory': {
    text: 'the directory has no person of this id who may sign in',
    label: 'wrong-credentials',
  },
  'old-key': {
    text: 'the person needs a second factor, and had signed in without one when the key was added',
    label: 'step-up',
  },
  scope: { text: 'lacks {scopes}', label: 'scope' },
  'step-up': { text: 'needs {signIn}', label: 'step-up' },
  'too-many-attempts': { text: 'too many attempts', label: 'throttled' },
  continued: { text: 'continued', label: 'continued' },
  'no-challenge': { text: 'no challenge to give; {why}', label: 'unavailable' },
  'grant-ended': { text: 'the grant has ended', label: 'revoked' },
  'client-not-for-person': {
    text: 'the person may not use this client, or not after this sign-in',
    label: 'revoked',
  },
  'person-gone': { text: 'the person was removed or disabled', label: 'revoked' },

  // Forward authentication.
  'verify-peer': { text: '{peer} is not in trustedProxies', label: 'other' },
  'verify-ambiguous': { text: 'the forwarded URI is ambiguous', label: 'malformed' },
  'verify-sign-in': {
    text: 'the proxy asks about a page of the sign-in: let it pass /.countersign/ on to the resource server',
    label: 'other',
  },
  'verify-two-readings': {
    text: 'the forwarded URI can be read in more than one way',
    label: 'malformed',
  },
  'verify-no-space': { text: 'no space has the forwarded URL at {origin}', label: 'other' },

  // The authorization server's answer to a sign-in.
  'sign-in-not-begun': {
    text: 'no sign-in has begun here with this state, or its tab has begun too often',
    label: 'malformed',
  },
  'sign-in-lost': {
    text: 'this browser has another secret than when its tab began, or it took too long: begun again',
    label: 'expired',
  },
  'sign-in-issuer': { text: 'iss is another issuer', label: 'issuer' },
  'sign-in-error': { text: 'the authorization server answered {answer}', label: 'other' },
  'sign-in-used': { text: 'the visit was used before', label: 'replayed' },
  'sign-in-failed': { text: '{why}', label: 'other' },

  // Errors of other parts and libraries, each by its class.
  'bad-request': { text: '{why}', label: 'malformed' },
  'http-error': { text: '{why}', label: 'other' },
  unavailable: { text: '{why}', label: 'unavailable' },
} as const satisfies Record<string, Row>;

export const refuse: Refuse<typeof SPACES> = refuser(SPACES);
