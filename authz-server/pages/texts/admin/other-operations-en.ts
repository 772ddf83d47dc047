/** Operations on keys, tokens, spaces, caches, the log and the servers, as administrators read them. */
export const otherOperationsEn = {
  'key add': {
    title: 'Make a key for an application',
    text: 'The application gets an API key for one realm, which is shown once. Or you enter the public key of a key pair for Concealed.',
    done: 'The key is made. An API key is shown only this once: save it now.',
  },
  'key list': {
    title: 'All keys of applications',
    text: 'API keys first, then keys for Concealed, each by application and age.',
  },
  'key rotate': {
    title: 'Replace an API key',
    text: 'The application gets a new key, which is shown once. You choose how long the old key still works.',
    done: 'The key is replaced. The new key is shown only this once: save it now.',
  },
  'key remove': {
    title: 'Remove a key of an application',
    text: 'The next request with the key is refused. This cannot be undone.',
    done: 'The key is removed.',
  },
  'signing-keys list': {
    title: 'All signing keys',
    text: 'The signing keys, and the state of each.',
  },
  'signing-keys rotate': {
    title: 'Replace a signing key',
    text: 'A new key replaces the old key. Tokens stay valid, unless you say that the old key may have leaked: then all of its tokens are refused at once.',
    done: 'The signing key is replaced.',
  },
  'private-token keys': {
    title: 'All PrivateToken keys',
    text: 'The keys of the PrivateToken issuer, and the state of each.',
  },
  'private-token rotate': {
    title: 'Replace a PrivateToken key',
    text: 'A new key replaces the old key before it expires. If you say that the old keys may have leaked, their tokens are refused at once.',
    done: 'The PrivateToken key is replaced.',
  },
  'revocation status': {
    title: 'State of the revocations',
    text: 'The revocations that a resource server learns when it starts.',
  },
  'token revoke': {
    title: 'Revoke an access token',
    text: 'The next request with the token is refused. This cannot be undone.',
    done: 'The token is revoked.',
  },
  'realm list': {
    title: 'All spaces',
    text: 'The spaces and the proxy: their URLs, and how people authenticate.',
  },
  'cache stats': {
    title: 'State of the caches',
    text: 'The size and the hits of each cache, process by process.',
  },
  'cache purge': {
    title: 'Remove stored answers of addresses',
    text: 'All stored answers of the addresses are removed from all caches.',
    done: 'The answers are removed.',
  },
  'cache ban': {
    title: 'Remove stored answers of a space',
    text: 'Stored answers of a space are removed from all caches by path, tag or status.',
    done: 'The answers are removed.',
  },
  'cache bans': {
    title: 'All bans',
    text: 'The bans of the last day, and how many answers each removed.',
  },
  'audit list': {
    title: 'Activity',
    text: 'The changes, newest first. Events of the last second may still be missing.',
  },
  'server status': {
    title: 'Processes and warnings',
    text: 'The processes that reported within the last minute, and settings that are probably a mistake.',
  },
};
