import { type Refuse, refuser, type Row } from './refusal.ts';

/** Refusals of the authentication schemes, except those of tokens and their proofs. */
export const SCHEMES = {
  // RFC 7617
  'basic-clear-text': {
    text: 'Basic needs TLS: this connection is in clear text',
    label: 'clear-text',
  },
  'basic-form': {
    text: 'credentials are not base64 of NAME:PASSWORD in UTF-8',
    label: 'malformed',
  },
  'basic-password': { text: 'unknown name or wrong password', label: 'wrong-credentials' },

  // RFC 7616
  'digest-form': { text: '{param} is missing or malformed', label: 'malformed' },
  'digest-algorithm': { text: 'algorithm was not offered: use {offered}', label: 'malformed' },
  'digest-no-qop': { text: 'no qop: use {offered}', label: 'malformed' },
  'digest-qop': { text: 'qop was not offered: use {offered}', label: 'malformed' },
  'digest-userhash': { text: 'userhash was not offered', label: 'malformed' },
  'digest-realm': { text: 'another realm than {realm}', label: 'audience' },
  'digest-opaque': { text: 'opaque is not ours', label: 'malformed' },
  'digest-uri': { text: 'uri is not the request target', label: 'malformed' },
  'digest-nonce': {
    text: 'nonce is not ours, or was made for another algorithm',
    label: 'malformed',
  },
  'digest-response': {
    text: 'no such name, or the response is wrong',
    label: 'wrong-credentials',
  },
  'digest-stale': { text: 'nonce is stale', label: 'expired' },
  'digest-used': { text: 'nc was used before', label: 'replayed' },

  // RFC 7804
  'scram-first': {
    text: 'not a client-first-message that is supported',
    label: 'malformed',
  },
  'scram-final': {
    text: 'not a client-final-message that is supported',
    label: 'malformed',
  },
  'scram-data': { text: 'data is not UTF-8 in base64', label: 'malformed' },
  'scram-realm': { text: 'another realm than {realm}', label: 'audience' },
  'scram-sid': { text: 'unknown sid', label: 'expired' },
  'scram-nonce': { text: 'another nonce', label: 'wrong-credentials' },
  'scram-proof': { text: 'wrong proof', label: 'wrong-credentials' },
  'scram-unknown-nonce': {
    text: 'no client has authenticated with this nonce',
    label: 'expired',
  },
  'scram-stale': { text: 'stale sr', label: 'expired' },
  'scram-used': { text: 'nonce-count was used', label: 'replayed' },

  // RFC 8120
  'mutual-certificate': { text: 'the server does not know the certificate', label: 'clear-text' },
  'mutual-terms': { text: '{param} is missing, or not as it was asked for', label: 'malformed' },
  'mutual-form': { text: '{param} is missing or malformed', label: 'malformed' },
  'mutual-element': { text: 'kc1 is not an element of the group', label: 'malformed' },
  'mutual-exchange': { text: 'the exchange has to be rejected', label: 'malformed' },
  'mutual-session': { text: 'no such session', label: 'expired' },
  'mutual-name': { text: 'no such name, or vkc is wrong', label: 'wrong-credentials' },
  'mutual-proof': { text: 'vkc is wrong', label: 'wrong-credentials' },
  'mutual-used': {
    text: 'nc was used before, or the password has changed',
    label: 'replayed',
  },
  'mutual-exchanges': { text: 'too many key exchanges', label: 'throttled' },

  // RFC 7486
  'hoba-clear-text': {
    text: 'HOBA needs TLS: this connection is in clear text',
    label: 'clear-text',
  },
  'hoba-host': { text: 'asked for by the name of another origin', label: 'audience' },
  'hoba-form': { text: 'result is missing or malformed', label: 'malformed' },
  'hoba-challenge': { text: 'a challenge that is not ours', label: 'malformed' },
  'hoba-old': { text: 'a challenge that is too old', label: 'expired' },
  'hoba-signature': {
    text: 'no such key, or the signature is wrong',
    label: 'wrong-credentials',
  },
  'hoba-no-owner': { text: 'the key belongs to no person', label: 'unknown-key' },
  'hoba-signed-out': { text: 'a challenge from before signing out', label: 'revoked' },
  'hoba-used': { text: 'signed for once already', label: 'replayed' },

  // RFC 9729
  'concealed-form': { text: 'a parameter is missing or malformed', label: 'malformed' },
  'concealed-algorithm': { text: 'unknown signature scheme', label: 'malformed' },
  'concealed-clear-text': { text: 'not over TLS 1.3', label: 'clear-text' },
  'concealed-a': { text: 'a is no key for s', label: 'wrong-credentials' },
  'concealed-p': { text: 'p is no signature of this connection', label: 'wrong-credentials' },
  'concealed-v': { text: 'v is of another connection', label: 'wrong-credentials' },
  'concealed-k': { text: 'k is not the id of a', label: 'wrong-credentials' },
  'concealed-unknown': { text: 'the key is not registered', label: 'wrong-credentials' },
  'concealed-realm': { text: 'realm is another', label: 'wrong-credentials' },
  'concealed-owner': {
    text: 'the owner of the key may not come in here',
    label: 'wrong-credentials',
  },

  // RFC 4559
  'negotiate-off': { text: 'Negotiate is not set up on this server', label: 'unavailable' },
  'negotiate-form': { text: 'no base64', label: 'malformed' },
  'negotiate-ntlm': {
    text: 'NTLM: the client has no ticket for this service',
    label: 'malformed',
  },
  'negotiate-mechanism': {
    text: 'neither SPNEGO with Kerberos nor Kerberos',
    label: 'malformed',
  },
  'negotiate-not-begun': {
    text: 'a later message of a handshake that was not begun here',
    label: 'malformed',
  },
  'negotiate-two-requests': { text: 'two requests in one handshake', label: 'malformed' },
  'negotiate-no-request': {
    text: 'a handshake without a request of Kerberos',
    label: 'malformed',
  },
  'negotiate-ticket': { text: '{why}', label: 'wrong-credentials' },
  'negotiate-used': { text: 'a replay', label: 'replayed' },
  'negotiate-no-person': {
    text: 'no person has the principal {principal}',
    label: 'wrong-credentials',
  },
  'negotiate-http2': { text: 'several messages over HTTP/2', label: 'malformed' },
  'negotiate-proxy': {
    text: 'several messages through a proxy, which mixes connections',
    label: 'malformed',
  },

  // RFC 9577
  'private-token-clear-text': {
    text: 'PrivateToken needs TLS: this connection is in clear text',
    label: 'clear-text',
  },
  'private-token-form': { text: 'no base64url for a token', label: 'malformed' },
  'private-token-type': { text: 'no token of a type that is taken here', label: 'malformed' },
  'private-token-challenge': {
    text: 'for no challenge that is valid here now',
    label: 'expired',
  },
  'private-token-key': { text: 'of no key that is valid now', label: 'unknown-key' },
  'private-token-old-key': {
    text: 'of a key that is past its end, or has none',
    label: 'expired',
  },
  'private-token-authenticator': { text: 'wrong authenticator', label: 'wrong-credentials' },
  'private-token-ended': { text: 'past its end when it was verified', label: 'expired' },
  'private-token-used': { text: 'used before', label: 'replayed' },
  'private-token-forgotten': {
    text: 'of a key or window that ended when it was spent',
    label: 'expired',
  },
  'private-token-rate': { text: 'too many tokens', label: 'throttled' },

  'api-key-form': { text: 'not an API key', label: 'malformed' },
  'api-key-field': { text: 'the API key is not in the field {field}', label: 'malformed' },
  'api-key-wrong': { text: 'wrong API key', label: 'wrong-credentials' },
  'api-key-realm': {
    text: 'this API key is of the realm {realm}, not {here}',
    label: 'audience',
  },
  'api-key-demo': {
    text: 'this API key is of the first start: production does not take it',
    label: 'revoked',
  },
  'api-key-ended': { text: 'this API key has ended', label: 'revoked' },
  'api-key-limit': { text: 'limit of the key', label: 'throttled' },

  'session-cookie': {
    text: 'the cookie is malformed, or there are several',
    label: 'malformed',
  },
  'session-unknown': { text: 'there is no such session, or it has ended', label: 'revoked' },
  'session-space': { text: 'it is of another space', label: 'audience' },
  'session-over': { text: 'it is over', label: 'expired' },
  'session-revoked': { text: 'revoked by {by}', label: 'revoked' },
  'session-second-factor': {
    text: 'the person must sign in with a second factor',
    label: 'step-up',
  },

  // RFC 8292
  'vapid-none': {
    text: 'This subscription is for one application server',
    label: 'no-credentials',
  },
  'vapid-webpush': {
    text: 'WebPush is the name that a draft had: send `vapid t=JWT, k=KEY`',
    label: 'other-scheme',
  },
  'vapid-params': {
    text: 'it needs t and k, each once, in base64url without padding',
    label: 'malformed',
  },
  'vapid-k': {
    text: 'k is no base64url of an uncompressed point of P-256',
    label: 'malformed',
  },
  'vapid-key': {
    text: 'the subscription is restricted to another key than k',
    label: 'unknown-key',
  },
  'vapid-jwt': { text: 'the JWT in t is malformed: {why}', label: 'malformed' },
  'vapid-alg': { text: 'the JWT in t has another alg than ES256', label: 'malformed' },
  'vapid-signature': { text: 'the key in k has not signed the JWT in t', label: 'proof' },
  'vapid-aud': { text: 'aud has to be {audience}', label: 'audience' },
  'vapid-exp-missing': { text: 'exp is missing', label: 'malformed' },
  'vapid-exp': { text: 'exp has to be a number', label: 'malformed' },
  'vapid-nbf': { text: 'nbf has to be a number', label: 'malformed' },
  'vapid-early': { text: 'nbf is yet to come', label: 'expired' },
  'vapid-expired': { text: 'exp is past', label: 'expired' },
  'vapid-long': { text: 'exp is more than 24 hours ahead', label: 'malformed' },
} as const satisfies Record<string, Row>;

export const refuse: Refuse<typeof SCHEMES> = refuser(SCHEMES);
