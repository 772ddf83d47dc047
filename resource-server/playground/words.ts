import type { Note } from '#shared/explain/note.ts';

/** A term of the field, and its meaning. */
export interface Word extends Note {
  readonly word: string;
}

const RULES: readonly (readonly [is: RegExp, word: Word])[] = (
  [
    [
      /access token/i,
      'access token',
      'Credentials for a resource that an authorization server issues: what they allow, and for how long.',
      'RFC 6749 section 1.4',
    ],
    [
      /authorization server/i,
      'authorization server',
      'The server that finds out who asks, and issues access tokens.',
      'RFC 6749 section 1.1',
    ],
    [
      /base64/,
      'base64',
      'A way to write octets in 64 letters, digits and signs, which everybody can read back. base64url has - and _ where base64 has + and /.',
      'RFC 4648 sections 4 and 5',
    ],
    [
      /\bblind(?:ed|ing)?\b/,
      'blinding',
      'The client mixes a random value into what the issuer signs, and takes it out of the signature afterwards. What is left is a signature that everybody can check, and the issuer has never seen it.',
      'RFC 9474 section 4',
    ],
    [
      /challenge/i,
      'challenge',
      'What a server asks for when it answers 401 or 407.',
      'RFC 9110 section 11.3',
    ],
    [
      /channel binding/,
      'channel binding',
      'A value of the TLS connection becomes part of a proof, which is then good on this connection alone.',
      'RFC 5802 section 6',
    ],
    [/credentials/i, 'credentials', 'What a client shows to be let in.', 'RFC 9110 section 11.4'],
    [
      /\bexport(?:s|er)?\b/,
      'exporter of TLS',
      'Both ends of a connection compute the same secret value from its keys. It is never sent, and every connection has another one.',
      'RFC 8446 section 7.5',
    ],
    [
      /\bhash(?:es|ed)?\b|SHA-256/i,
      'hash',
      'A short value that is computed from any octets, for example by SHA-256. The octets cannot be computed from it, and no other octets with the same hash can be found.',
      'RFC 6234 section 1',
    ],
    [
      /\bJWT\b|\bjwt\b/,
      'JWT',
      'JSON with a signature: a header, claims and the signature, each in base64url, with dots between them.',
      'RFC 7519 section 3',
    ],
    [
      /public key|private key|\bsigned\b(?! in)|\bsignatures?\b|\bsigns\b/i,
      'keys and signatures',
      'Keys come in pairs. The private key makes a signature, and its owner shows it to nobody. With the public key everybody can check the signature, but make none.',
      'RFC 7515 section 1',
    ],
    [
      /nonce/i,
      'nonce',
      'A random value that is used once, so that nobody can use a message again.',
      'RFC 4949 section 4',
    ],
    [/\boctets?\b/i, 'octet', 'A byte of eight bits.', 'RFC 9110 section 2.1'],
    [
      /\borigin\b/,
      'origin',
      'The scheme, host and port of a URL, such as https://example.com:443.',
      'RFC 6454 section 4',
    ],
    [
      /PBKDF2/,
      'PBKDF2',
      'A hash of a password that is slow on purpose: it is repeated as often as i says, so it costs much to try out passwords.',
      'RFC 5802 section 2.2',
    ],
    [
      /\bsalt\b/,
      'salt',
      'A random value for each account that is hashed with the password, so that equal passwords have different hashes.',
      'RFC 5802 section 5.1',
    ],
    [/\bscopes?\b/i, 'scope', 'A word for what a token allows.', 'RFC 6749 section 3.3'],
    [
      /user agent/i,
      'user agent',
      'The program that acts for a person, such as a browser.',
      'RFC 9110 section 3.5',
    ],
  ] as const
).map(([is, word, text, section]) => [is, { word, text, section }]);

/** Returns the terms that texts use, in alphabetical order. */
export function wordsIn(texts: readonly string[]): readonly Word[] {
  const all = texts.join('\n');
  return RULES.flatMap(([is, word]) => (is.test(all) ? word : []));
}
