import { describe, expect, test } from '@jest/globals';
import { BadDocument, readDocument, readKeys } from './document.ts';
import { isDocumentUrl } from './document-url.ts';
import { webDocument } from './document-server.fixture.ts';

const URL_OF_IT = 'https://app.example/client.json';

/** Returns the number with so many bits, all of which are 1. */
const ones = (bits: number) => Buffer.alloc(bits / 8, 255).toString('base64url');
const rsa = (bits: number, ofExponent = 16) => ({ kty: 'RSA', n: ones(bits), e: ones(ofExponent) });
const byKey = (jwk: object) => ({
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [jwk] },
});

describe('draft section 3: client identifiers that are addresses of documents', () => {
  test.each([
    URL_OF_IT,
    'https://a.example/a/b',
    'https://localhost:8443/c',
    'https://127.0.0.1/c',
  ])('%s is the address of a document', (url) => {
    expect(isDocumentUrl(url)).toBe(true);
  });

  test.each([
    'http://app.example/client.json',
    'https://app.example',
    'https://app.example/',
    'https://app.example/a#b',
    'https://app.example/a?b',
    'https://app.example/a?',
    'https://alice@app.example/a',
    'https://alice:secret@app.example/a',
    'https://app.example/a/../b',
    'https://app.example/./b',
    'https://app.example/a/%2e%2e/b',
    'https://APP.example/a',
    'https://app.example:443/a',
    'https://app.example./a',
    'https://localhost./a',
    'https://app.example../a',
    'https://127.0.0.1./a',
    'https://app.example\\a',
    'https://10.0.0.1/a',
    'https://169.254.169.254/latest/meta-data',
    'https://0x7f.1/a',
    'https://[fd00::1]/a',
    'https://[::ffff:127.0.0.1]/a',
    ' https://app.example/a',
    'https://app.example/a\n',
    `https://app.example/${'a'.repeat(500)}`,
    'web',
    '',
  ])('%j is no address of a document', (url) => {
    expect(isDocumentUrl(url)).toBe(false);
  });
});

/** Returns the code of the mistake that a reader finds. */
function codeOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error;
    return error.words.code;
  }
}

describe('draft section 4.1: the document', () => {
  const read = (members: object) => () => readDocument(URL_OF_IT, webDocument(URL_OF_IT, members));

  test('unknown members of a document are left out', () => {
    expect(read({ logo_uri: 'http://10.0.0.1/', scope: 'admin', first_party: true })()).toEqual({
      name: 'Notes',
      redirectUris: ['https://notes.example/callback'],
      native: false,
      method: 'none',
      refreshes: true,
    });
  });

  test.each([
    ['https://app.example/start', 'https://app.example/start'],
    ['https://app.example:443', 'https://app.example/'],
    ['https://app.example.evil.example/', undefined],
    ['https://app.example:8443/', undefined],
    ['http://app.example/', undefined],
    ['https://a@app.example/', undefined],
    ['https://bank.example/', undefined],
    ['/start', undefined],
    ['javascript:alert(1)', undefined],
    [`https://app.example/${'x'.repeat(2048)}`, undefined],
    [['https://app.example/'], undefined],
    [7, undefined],
  ])('people begin, and logouts go, only to %j at the origin of the document', (address, own) => {
    const found = read({ client_uri: address, backchannel_logout_uri: address })();
    expect([found.startUrl, found.logoutUrl]).toEqual([own, own]);
  });

  test.each([
    [['http://localhost:52430/callback'], true],
    [['http://127.0.0.1/callback', 'http://[::1]/callback'], true],
    [['com.example.app:/callback'], true],
    [['https://a.example/callback', 'http://127.0.0.1/callback'], true],
    [['https://a.example/callback'], false],
  ])('RFC 8252 section 7: a client with %j is native: %j', (redirect_uris, native) => {
    expect(read({ redirect_uris })().native).toBe(native);
  });

  test('an RSA key of 4096 bits is accepted', () => {
    expect(read(byKey(rsa(4096)))().jwks?.keys).toHaveLength(1);
  });

  test.each([
    ['another identifier', { client_id: 'https://app.example/client.json/' }],
    ['no name', { client_name: undefined }],
    ['an invisible name', { client_name: 'a\u202eb' }],
    ['a long name', { client_name: 'a'.repeat(101) }],
    ['no redirect URI', { redirect_uris: [] }],
    [
      'too many redirect URIs',
      { redirect_uris: Array.from({ length: 21 }, () => 'https://a.example/') },
    ],
    ['clear text elsewhere', { redirect_uris: ['http://a.example/'] }],
    ['https at this machine', { redirect_uris: ['https://127.0.0.2/cb'] }],
    ['https at localhost with a dot', { redirect_uris: ['https://localhost./cb'] }],
    ['a line break', { redirect_uris: ['ht\ntps://a.example/'] }],
    ['a space', { redirect_uris: [' https://a.example/'] }],
    ['a broken header', { redirect_uris: ['https://a.example/\r\nX: y'] }],
    [
      'an invalid key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'EC' }] } },
    ],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }],
    ['a data URI', { redirect_uris: ['data:text/html,a'] }],
    ['a fragment', { redirect_uris: ['https://a.example/#a'] }],
    ['userinfo', { redirect_uris: ['https://a@b.example/'] }],
    ['a shared secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['a secret', { client_secret: 'a' }],
    ['when a secret ends', { client_secret_expires_at: 0 }],
    ['only machines', { grant_types: ['client_credentials'] }],
    ['the implicit flow', { response_types: ['token'] }],
    ['a key without its use', { jwks: { keys: [{ kty: 'EC' }] } }],
    ['no key', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'a private key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'EC', d: 'a' }] } },
    ],
    ['a key of RSA that is too long', byKey(rsa(16_384))],
    ['a key of RSA that is too short', byKey(rsa(1024))],
    ['an exponent that costs as much as a signature', byKey(rsa(3072, 3072))],
    [
      'a symmetric key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kty: 'oct', k: 'a' }] } },
    ],
    [
      'keys elsewhere',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://b.example/keys' },
    ],
    [
      'keys in clear text',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'http://app.example/keys' },
    ],
  ])('a document is refused: %s', (_, members) => {
    expect(read(members)).toThrow(BadDocument);
    expect(codeOf(read(members))).not.toBe('other');
  });

  test.each<[string, object]>([
    ['document-address', { client_id: `${URL_OF_IT}/` }],
    ['missing', { client_name: undefined }],
    ['type', { client_name: 1 }],
    ['visible-name', { client_name: '' }],
    ['too-few', { redirect_uris: [] }],
    ['too-long', { redirect_uris: [`https://a.example/${'a'.repeat(512)}`] }],
    ['uri-relative', { redirect_uris: ['/callback'] }],
    ['document-loopback', { redirect_uris: ['https://localhost/callback'] }],
    ['choice', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['document-value', { grant_types: [] }],
    ['document-value', { response_types: ['token'] }],
    ['document-secret', { client_secret: 'a' }],
    ['document-secret', { client_secret_expires_at: 0 }],
    ['document-no-keys', { token_endpoint_auth_method: 'private_key_jwt' }],
    ['document-idle-keys', { jwks_uri: 'https://app.example/keys' }],
    ['private-key', byKey({ kty: 'EC', d: 'a' })],
    ['document-key', byKey(rsa(1024))],
    [
      'document-keys-elsewhere',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://b.example/keys' },
    ],
  ])('the mistake has the code %s: %j', (code, members) => {
    expect(codeOf(read(members))).toBe(code);
  });

  test.each([undefined, null, [], 'text', 1])('the content %j is refused', (content) => {
    expect(() => readDocument(URL_OF_IT, content)).toThrow(BadDocument);
    expect(codeOf(() => readDocument(URL_OF_IT, content))).toBe('document-object');
    expect(() => readKeys(content)).toThrow(
      /^jwks_uri must be of the type object|^jwks_uri is missing/,
    );
    expect(() => readKeys(content)).toThrow(BadDocument);
  });
});
