import { type Refuse, refuser, type Row } from './refusal.ts';

/** Refusals of JWTs: for their form (RFC 7515), as access tokens (RFC 9068) and as DPoP proofs (RFC 9449). */
export const TOKENS = {
  'jws-length': { text: 'longer than 8192 characters', label: 'malformed' },
  'jws-parts': { text: 'not three parts', label: 'malformed' },
  'jws-header': { text: 'header is not a JSON object in base64url', label: 'malformed' },
  'jws-payload': { text: 'payload is not a JSON object in base64url', label: 'malformed' },
  'jws-signature': { text: 'signature is not base64url', label: 'malformed' },
  'jws-alg': { text: 'alg is not on the allow-list', label: 'malformed' },
  'jws-crit': { text: 'crit names an extension', label: 'malformed' },

  'token-typ': { text: 'typ is not at+jwt', label: 'malformed' },
  'token-foreign-key': { text: 'header carries {name}', label: 'malformed' },
  'token-kid': { text: 'kid is missing', label: 'malformed' },
  'token-none': { text: 'it is missing', label: 'malformed' },
  'token-in-query': {
    text: 'access token in the query: send it in Authorization',
    label: 'malformed',
  },
  'token-not-b64token': { text: 'not of the form of a token (b64token)', label: 'malformed' },
  'token-key': { text: 'the issuer has no such key', label: 'unknown-key' },
  'token-key-unchecked': {
    text: 'this store has no such key, so the signature was not checked',
    label: 'unknown-key',
  },
  'token-key-alg': { text: 'alg does not fit the key', label: 'unknown-key' },
  'token-signature': { text: 'signature is wrong', label: 'proof' },
  'token-claim': { text: 'claim {claim} is missing or malformed', label: 'malformed' },
  'token-issuer': { text: 'iss is another issuer: {iss}, not {issuer}', label: 'issuer' },
  'token-audience': { text: 'aud is another resource: {aud}, not {audience}', label: 'audience' },
  'token-expired': { text: 'expired at {at}', label: 'expired' },
  'token-early': { text: 'not valid yet: the clocks differ', label: 'expired' },
  'token-revoked': { text: 'revoked by {by}', label: 'revoked' },
  'token-bound': { text: 'bound to a key, so it needs {scheme}', label: 'proof' },
  'token-unbound': { text: 'bound to no key, so it comes as Bearer', label: 'proof' },
  'token-of-gnap': { text: 'of GNAP, so it comes as GNAP', label: 'proof' },
  'token-of-dpop': { text: 'bound to a key of DPoP, so it comes as DPoP', label: 'proof' },
  'token-cnf': { text: 'cnf: {why}', label: 'unknown-key' },

  'proof-none': { text: 'the field DPoP is missing', label: 'proof' },
  'proof-several': { text: 'two DPoP fields', label: 'malformed' },
  'proof-jti': { text: 'jti is not a string of 1 to {most} characters', label: 'proof' },
  'proof-htm-htu': { text: 'htm or htu is missing', label: 'proof' },
  'proof-iat': { text: 'iat is not a number', label: 'proof' },
  'proof-typ': { text: 'typ is not dpop+jwt', label: 'proof' },
  'proof-jwk': { text: 'jwk is not an object', label: 'proof' },
  'proof-jwk-private': { text: 'jwk holds a private key', label: 'proof' },
  'proof-jwk-alg': { text: 'jwk is not a key for alg', label: 'proof' },
  'proof-signature': { text: 'signature is wrong', label: 'proof' },
  'proof-htm': { text: 'htm is another method than {method}', label: 'proof' },
  'proof-htu': { text: 'htu is another URI than {uri}', label: 'proof' },
  'proof-ath': { text: 'ath is the hash of another token', label: 'proof' },
  'proof-jkt': { text: 'the token is bound to another key', label: 'proof' },
  'proof-time': {
    text: 'iat is {apart} s from the time here, not within {window} s',
    label: 'expired',
  },
  'proof-nonce-missing': { text: 'nonce is missing', label: 'proof' },
  'proof-nonce-stale': { text: 'nonce is stale', label: 'expired' },
  'proof-nonce-foreign': { text: 'nonce is not of this space', label: 'proof' },
  'proof-nonce-needed': {
    text: 'nonce is needed, since the store has lost its memory',
    label: 'proof',
  },
  'proof-used': { text: 'jti was used before', label: 'replayed' },
} as const satisfies Record<string, Row>;

export const refuse: Refuse<typeof TOKENS> = refuser(TOKENS);
