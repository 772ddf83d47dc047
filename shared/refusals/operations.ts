import { CLIENTS } from './clients.ts';
import { speaker, type Words } from './words.ts';

/**
 * The refusals of operations, by their codes. A text about a member continues the member's name; any other text is a
 * sentence without its full stop.
 */
export const OPERATIONS = {
  ...CLIENTS,

  // Mistakes in a member.
  missing: 'is missing',
  'missing-redirect-uris': 'is missing: --grant authorization_code sends its code there',
  'missing-scope':
    'is missing: a client needs a scope, --introspects, or the --resource of a space without scopes',
  'missing-name':
    'is missing: give a name, or only one email address, so that the person chooses a name',
  'missing-name-unregistered':
    'is missing, and people.registration is off, so a person cannot choose a name: give it, or set that to invited',
  'given-twice': 'is given twice',
  'given-to-clear': 'is given, and to be cleared: choose one',
  'secret-in-address': 'is a secret, which must not be in an address',
  'unknown-member': 'is no member of the operation',
  type: 'must be of the type {type}',
  flag: 'must be true or false',
  choice: 'must be one of {names}',
  'whole-number': 'must be a whole number from {least} to {most}',
  'too-small': 'must be at least {least}',
  'too-large': 'must be at most {most}',
  'too-long': 'must have at most {most} characters',
  'too-many': 'must have at most {most} entries',
  'too-few': 'must have at least {least} entries',
  'too-many-octets': 'must be at most {most} octets together',
  'each-once': 'must each be there once',
  reference: 'must be {what}',
  'empty-part': 'must be an id: without any it would mean everything',
  'page-unknown': 'must be the `next` of the page before',
  'page-gone': 'is no row of the list any more: begin with its first page',
  moment: 'must be an ISO 8601 time with Z or an offset, a date, or such as 2h',
  'event-kind': 'must be a kind of docs/reference/audit-events.md',
  'visible-name': 'must be 1 to 100 characters, none of them invisible',
  'mail-address': 'must be an address such as alice@example.com, of at most 254 octets (RFC 5321)',
  'group-name': 'must be 1 to 64 visible characters without a comma',
  'attribute-name':
    'must be such as department=research: a name of 1 to 64 letters, digits and . _ -',
  'attribute-value': 'must be 1 to {most} octets of visible text in one line',
  'language-tag': 'must be a language tag such as en-GB (RFC 5646)',
  'picture-url': 'must be a URL of http or https without a password, of at most {most} octets',
  'logo-url': 'must be a URL such as https://app.example/logo.png, of at most 1,024 octets',
  'logout-url':
    'must be a URL of http or https such as https://app.example/logout, without a password or a fragment',
  'start-url': 'must be a URL of http or https such as https://app.example/, without a password',
  origin: 'must be an origin such as https://app.example, without a path or a slash at the end',
  'claim-form': 'must be a rule such as role=admin if group admins',
  'claim-name':
    'must begin with the name of a claim: a letter, then at most 127 letters, digits and _ . : / -',
  'claim-reserved': 'has {claim}, by which servers recognise a token: choose another claim',
  'claim-known': 'has {claim}: write {known}',
  'claim-case': 'has {text}: write {near}, or "{text}" for this text',
  'claim-text': 'has a text of more than {most} octets',
  'claim-quotes': 'needs quotation marks (") around a text with spaces or other signs',
  'claim-condition':
    'has {word} after if: write group NAME, person NAME, or attribute NAME is TEXT',
  'claim-words':
    'has {word} where if or the end is expected: put quotation marks (") around a text',
  'claim-after': 'never counts: an earlier rule for {claim} always matches',
  'document-url': 'must be an https address with a path, and no user, query or fragment',
  'document-unusable': 'cannot be used: {why}',
  'document-says': 'is what the document says: leave it out',
  'not-scope': 'has "{token}", which is not a scope',
  'jwk-set': 'is not a JWK Set of public keys',
  'private-key': 'holds a private key: give its public part only',
  'jwk-alg': 'is not a public key for {algs}',
  'no-public-key': 'is no public key in PEM, in DER or as a JWK',
  'key-type': 'is a key of type {type}; {scheme} takes {types}',
  'key-use': 'is for something else than signatures (use)',
  'gnap-key': 'is neither a public JWK nor a certificate in PEM: {why}',
  'gnap-key-kept': 'has no public key that GNAP takes: {why}',

  // Conflicts of a member with other members.
  'not-of-gnap': 'is not of a client of GNAP, which proves who it is by --gnap-key: leave it out',
  'refresh-of-gnap': 'refresh_token cannot be used by a GNAP client: leave it out',
  'only-of-gnap': 'is about clients of GNAP: add --gnap-key',
  'public-credentials':
    'means that it has no secret to prove who it is with: leave out --grant client_credentials',
  'public-keys': 'means that it has neither secret nor keys: leave out --auth and --jwks',
  'public-introspects': 'needs a client that proves who it is: leave out --public',
  'public-without-pkce':
    'must not be there: without a secret PKCE alone ties a code to the client: leave out --pkce',
  'only-of-codes': 'is about authorization codes: add --grant authorization_code',
  'only-of-sign-in':
    'is about sign-in in a browser; the device page always asks: add --grant authorization_code',
  'native-first-party':
    'must not be there: another program on the machine can pass for a native client (RFC 8252 section 8.6): leave out --native',
  'only-of-machines':
    'is for a machine, and a person is an administrator by user set NAME --admin: add --grant client_credentials',
  'refresh-of-nobody':
    'refresh_token renews what a person has allowed: add --grant authorization_code or --grant device_code',
  'only-of-browsers': 'is of browsers: add --grant authorization_code',
  'only-of-people': 'is about people: add --grant authorization_code or --grant device_code',
  'pkce-openid':
    'needs openid in --scope: the nonce of the ID token ties a code to its session instead',
  'fapi-keys':
    'fapi2 is for clients that prove who they are by a key: give --auth private_key_jwt and --jwks, and leave out --public',
  'fapi-device': 'fapi2 has no sign-in on devices: leave out --grant device_code',
  'fapi-pkce': 'must be required with --profile fapi2: leave it out',
  'fapi-id-token': 'must be ES256 with --profile fapi2',
  'fapi-jwk': 'has a key for RS256, which fapi2 forbids: use PS256, ES256 or EdDSA',
  'fapi-space':
    'names {url}, which fapi2 rules out: add DPoP to its schemes, and give it another alg than RS256',
  'fapi-redirect': 'must be https with --profile fapi2; http on loopback needs --native',
  'default-beyond': 'is not within --scope: {scopes}',
  'admin-scope': 'has {scopes}, which is of administrators: add --admin',
  'jwks-with-method': 'private_key_jwt and --jwks belong together: give both or neither',
  'mail-not-set': 'needs the setting mail, which is not there: leave it out',
  'compromised-only': 'is for a compromised key only; a rotation is of an alg',
  'kid-beside-alg': 'cannot stand beside an alg: give one, not both',
  'of-api-keys': 'is of API keys: leave out --concealed',
  'of-concealed': 'belongs to --concealed',
  'no-realm': 'names none: no space takes API keys: name the scheme API-Key in one',
  realm: 'must be a realm that takes API keys: {realms}',
  'of-hoba': 'belongs to the scheme hoba',
  'no-origin': 'must be one with TLS for the scheme hoba, and no space has one',
  'tls-origin': 'must be one of TLS: {origins}',

  // Mistakes in a URI to which a browser is sent; the text follows the URI.
  'uri-relative': 'must be an absolute URI, such as https://app.example/callback',
  'uri-fragment': 'must have no fragment (#)',
  'uri-user': 'must have no user before the host (@)',
  'uri-form': 'must be in its normal form, {form}',
  'uri-native':
    'must be https elsewhere, http on localhost, 127.0.0.1 or [::1], or a scheme with a dot such as com.example.app:/callback',
  'uri-scheme':
    'must be https, or http on localhost, 127.0.0.1 or [::1]; other schemes need --native',

  // Refusals about people.
  'person-name': 'a name is 1 to 64 letters, digits and . _ @ + -: choose another',
  'password-short': 'a password has at least {least} characters: choose a longer password',
  'password-long': 'a password has at most {most} octets: choose a shorter password',
  'password-characters': 'a password has no control characters and no line ends: choose another',
  'password-common':
    'this password is one of the {count} commonest, which are guessed first: choose another',
  'password-replaced': 'the password was changed meanwhile: begin again',
  principal: '{principal} is no principal with its realm, such as alice@EXAMPLE.COM',
  'no-person': 'there is no person {name}',
  'name-taken': 'the name {name} is taken: choose another',
  'name-former':
    '{name} was the name of a removed person, and what is granted by name would be theirs: choose another, or reuse the name (--reuse-name)',
  'address-taken':
    '{address} is a verified address of {owner}: take it from them first, or leave it unverified',
  'already-linked': '{name} has an account of {source} already: unlink it first',
  managed: 'the source {source} owns {part}: change it there, and the next sign-in brings it here',
  'address-gone': '{address} is not theirs any more',
  'alias-taken': '{alias} belongs to {owner}: take it from them first',
  'person-raced': '{name} could not be kept as others were changed: try again',
  'address-unverified': '{name} has no verified address: leave --mail out',
  'no-address': '{name} has no address: give --email',
  disabled: '{name} is disabled: user enable {name} comes first',
  'can-sign-in':
    '{name} is here already and can sign in: user recover {name} makes a link for a new password',
  'administrator-there':
    '{name} is an administrator who can sign in: user recover {name} helps if they cannot, and user set NAME --admin adds another',
  'invited-already': '{name} was invited already: change the profile with user set {name}',
  'no-second-factor': '{name} has no second factor',
  'no-key-of-person': '{name} has no key {id}',
  'no-passkey': '{name} has no passkey {id}: see user passkey list {name}',
  'last-passkey':
    'the passkey {id} is the last way in of {name}: give them another first (user recover {name}), or give --last',
  'one-part': 'give one of {names}',
  'no-grant-of-person': '{name} has no grant {id}: see user access {name}',
  'no-sign-in-of-person': '{name} has no sign-in {id}: see user access {name}',
  'no-client-of-person': '{name} has no client {id}: see user access {name}',

  // Refusals about clients.
  'no-setting': 'no setting is given: name at least one',
  'no-client': 'there is no client {client}',
  'client-built-in': 'client {client} is built in: change the configuration instead',
  'client-built-in-secret':
    'client {client} is built in: its secret follows from the master secret, by which both servers know it',
  'client-built-in-end': 'client {client} is built in: end its grants one by one',
  'client-without-secret': 'client {client} has no secret: it uses {method}',
  'client-without-keys':
    'client {client} authenticates by {method}, not by private_key_jwt: leave --jwks out',
  'client-of-document':
    'client {client} is what its document says: change the document, or remove the client and add one with these settings',
  'client-raced': 'client {client} was changed or removed meanwhile: look at it, then try again',
  'client-registered': 'client {client} is registered already',
  'client-has-key': 'client {client} has this key already',
  'no-grant-of-client': '{client} has no grant {id}: see client access {client}',
  'identifier-taken': 'the identifier is taken: try again',

  // Refusals about keys.
  'no-key': 'there is no key {id}',
  'key-removed': 'the key {id} was removed meanwhile',
  'key-taken': 'the key {id} is known already, and no key is used twice: make another',
  'key-full': 'the key {id} would be one too many, there are {most}: remove one first',
  'key-of-client': 'the key {id} is that of a client of the authorization server: make another',
  'key-of-scheme': '{id} is a key for {scheme}: make another',
  'no-signing-key': 'no {alg} key signs now: name the kid',
  'no-key-to-rotate': 'there is no {alg} key to rotate',
  'rotation-under-way': 'a rotation is under way: key {kid} signs from {time}',
  'token-key-under-way': 'a rotation of the {type} key is under way',
  'token-key-next': 'a rotation of the {type} key is under way: the next issues from {time}',
  'no-token-key': 'there is no {type} key to rotate: start the authorization server first',
  'token-keys-full':
    'the directory has {count} {type} keys, which is the most: the next one retires at {time}',
  'no-token-key-id': 'no {type} key has a truncated id that is free',
  'no-private-tokens': 'this pair issues no tokens: add privateTokens to the configuration',

  // Refusals about caches and tokens.
  'not-asked-url': '{url} is no URL as clients ask for it: percent-encoded, with https://',
  'no-cache': 'no cache has {url}: no space is configured with one',
  'no-cache-there': 'no cache has {url}; spaces with one: {spaces}',
  quoted: 'must be a string, in quotes',
  'ban-path': 'must begin with / or *, in at most 2048 visible characters',
  'ban-tag': 'must be 1 to 256 visible characters',
  'ban-status': 'must be a status code, or a class such as 5xx',
  'ban-wildcards': 'has more than {most} wildcards',
  'empty-ban': 'the ban names nothing: it needs path, tag or status',
  'nothing-to-revoke': 'nothing to revoke, no server accepts it: {why}',

  /** A mistake that zod finds and that has no code here: a test lists such mistakes. */
  other: 'is wrong ({issue})',
} as const;

export const said = speaker(OPERATIONS);

/** Thrown if an operation is refused. */
export class Refused extends Error {
  readonly words: Words;

  constructor(words: Words, options?: ErrorOptions) {
    super(words.message, options);
    this.words = words;
  }
}
