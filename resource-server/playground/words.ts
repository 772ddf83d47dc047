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
      'Credentials that an authorization server issues for a resource. They say what the client may do, and for how long.',
      'RFC 6749 section 1.4',
    ],
    [
      /authorization server/i,
      'authorization server',
      'The server that authenticates people and clients, and issues access tokens.',
      'RFC 6749 section 1.1',
    ],
    [
      /base64/,
      'base64',
      'A way to write octets with 64 letters, digits and signs. Anybody can decode it. base64url has - and _ where base64 has + and /.',
      'RFC 4648 sections 4 and 5',
    ],
    [
      /\bblind(?:ed|ing)?\b/,
      'blinding',
      'The client mixes a random value into the text that the issuer signs, and removes this value from the signature afterwards. Anybody can check the resulting signature, which the issuer has never seen.',
      'RFC 9474 section 4',
    ],
    [
      /challenge/i,
      'challenge',
      'The part of a 401 or 407 answer with which a server asks for credentials.',
      'RFC 9110 section 11.3',
    ],
    [
      /channel binding/,
      'channel binding',
      'A value of the TLS connection becomes part of a proof, so that the proof is valid only on this connection.',
      'RFC 5802 section 6',
    ],
    [
      /credentials/i,
      'credentials',
      'The values with which a client authenticates.',
      'RFC 9110 section 11.4',
    ],
    [
      /\bexport(?:s|er)?\b/,
      'exporter of TLS',
      'Client and server compute the same secret value from the keys of their connection. The value is never sent, and is different for every connection.',
      'RFC 8446 section 7.5',
    ],
    [
      /\bhash(?:es|ed)?\b|SHA-256/i,
      'hash',
      'A short value that is computed from any octets, for example by SHA-256. The octets cannot be computed from the hash, and no other octets with the same hash can be found.',
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
      'Keys come in pairs. The owner signs with the private key, and keeps it secret. With the public key anybody can check the signature, but cannot make one.',
      'RFC 7515 section 1',
    ],
    [
      /nonce/i,
      'nonce',
      'A random value that is used once, so that an attacker cannot use a message again.',
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
      'A hash of a password that is slow on purpose: it is repeated i times. So an attacker needs much time to try out passwords.',
      'RFC 5802 section 2.2',
    ],
    [
      /\bsalt\b/,
      'salt',
      'A random value for each account that is hashed with the password, so that equal passwords have different hashes.',
      'RFC 5802 section 5.1',
    ],
    [/\bscopes?\b/i, 'scope', 'A word that names what a token allows.', 'RFC 6749 section 3.3'],
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
