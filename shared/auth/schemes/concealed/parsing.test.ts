import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { formatAuthExport, parseAuthExport } from './auth-export.ts';
import { readProof } from './credentials.ts';
import { covered, exporterContext } from './signed.ts';

const read = (rest: string) => {
  const credentials = parseCredentials(`Concealed ${rest}`);
  return credentials && readProof(credentials);
};

const HONEST = { k: 'a2V5', a: 'cHVibGlj', s: '2055', v: 'dg', p: 'cA' };
const written = (params: Readonly<Record<string, string>>) =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

describe('RFC 9729 section 4: the parameters', () => {
  test('the five parameters and the realm are read', () => {
    expect(read(written(HONEST))).toEqual({
      keyId: Buffer.from('key'),
      publicKey: Buffer.from('public'),
      signatureScheme: 2055,
      verification: Buffer.from('v'),
      signature: Buffer.from('p'),
      realm: undefined,
    });
    expect(read(`${written(HONEST)}, realm="a \\"b\\", k=\\"x"`)?.realm).toBe('a "b", k="x');
  });

  test('section 5: the example of the RFC is well-formed', () => {
    const example =
      'k=YmFzZW1lbnQ, a=VGhpcyBpcyBh-HB1YmxpYyBrZXkgaW4gdXNl_GhlcmU, s=2055, v=dmVyaWZpY2F0aW9u_zE2Qg, p=QzpcV2luZG93c_xTeXN0ZW0zMlxkcml2ZXJz-ENyb3dkU3RyaWtlXEMtMDAwMDAwMDAyOTEtMD-wMC0w_DAwLnN5cw';
    expect(read(example)).toMatchObject({ keyId: Buffer.from('basement'), signatureScheme: 2055 });
  });

  test.each(Object.keys(HONEST))('are all required: %s', (name) => {
    const { [name as 'k']: _, ...others } = HONEST;
    expect(read(written(others))).toBeUndefined();
    expect(read(written({ ...HONEST, [name]: '""' }))).toBeUndefined();
  });

  test.each(['"a2V5"', 'a2V5=', 'a2V5.', 'a2V', 'a2V6A', 'a2V5+', 'a2V5/', 'a2V5~'])(
    'k=%s is refused, because it is no byte sequence',
    (k) => expect(read(written({ ...HONEST, k }))).toBeUndefined(),
  );

  test.each([
    '02055',
    '+2055',
    '-1',
    '2055.0',
    '0x807',
    '65536',
    '99999',
    '100000',
    '""',
    '1e3',
    '٣',
  ])('s=%s is refused, because it is no signature scheme', (s) =>
    expect(read(written({ ...HONEST, s }))).toBeUndefined(),
  );

  test('0 and the highest number are read as signature schemes', () => {
    for (const s of ['0', '65535']) {
      expect(read(written({ ...HONEST, s }))?.signatureScheme).toBe(Number(s));
    }
  });

  test('any text gives a proof or undefined, never an error', () => {
    const piece = fc.constantFrom(...'kasvp=,"\\ \t-_09Az;'.split(''), 'realm=', 'k=', '\u00e9');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const proof = read(pieces.join(''));
        expect(proof === undefined || proof.keyId.length > 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('RFC 9729 section 3: the signed octets', () => {
  const purpose = {
    signatureScheme: 0x0807,
    keyId: Buffer.from('basement'),
    publicKey: Buffer.alloc(32, 7),
    url: 'https://example.com',
  };

  test("section 3.1: the exporter's context is the expected bytes", () => {
    expect(exporterContext(purpose).toString('hex')).toBe(
      [
        '0807',
        `08${Buffer.from('basement').toString('hex')}`,
        `20${'07'.repeat(32)}`,
        `05${Buffer.from('https').toString('hex')}`,
        `0b${Buffer.from('example.com').toString('hex')}`,
        '01bb',
        '00',
      ].join(''),
    );
    const with64 = exporterContext({ ...purpose, publicKey: Buffer.alloc(64), realm: 'é' });
    expect(with64.subarray(11, 13).toString('hex')).toBe('4040');
    expect(with64.subarray(-2).toString('hex')).toBe('01e9');
    const long = exporterContext({ ...purpose, publicKey: Buffer.alloc(0x4000) });
    expect(long.subarray(11, 15).toString('hex')).toBe('80004000');
  });

  test.each([
    ['http://a/', '01610050'],
    ['https://[::1]:8443/x', '055b3a3a315d20fb'],
    ['HTTPS://A.Example?x', '09612e6578616d706c6501bb'],
  ])('%s: the context has the host without its port, and the port', (url, hex) => {
    expect(exporterContext({ ...purpose, url }).toString('hex')).toContain(hex);
  });

  test.each(['/path', 'ftp://a/', 'https://', 'https://user@a/', 'a:443'])(
    'the URL %s is refused, because it has no host and port',
    (url) => {
      expect(() => exporterContext({ ...purpose, url })).toThrow(TypeError);
    },
  );

  test('section 3.3: the signed octets follow the text of the RFC, not its figure 3', () => {
    expect(covered(Buffer.alloc(32, 1)).toString('latin1')).toBe(
      `${' '.repeat(64)}HTTP Concealed Authentication\0${'\u0001'.repeat(32)}`,
    );
  });
});

describe('section 6.2: Concealed-Auth-Export', () => {
  test('the exporter output is read unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 48, maxLength: 48 }), (bytes) => {
        expect(parseAuthExport(formatAuthExport(Buffer.from(bytes)))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test.each([0, 47, 49, 96])('an exporter output of %i bytes is refused', (length) => {
    expect(parseAuthExport(formatAuthExport(Buffer.alloc(length)))).toBeUndefined();
  });

  test('any field value gives an exporter output or undefined, never an error', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(parseAuthExport(text)).toBeUndefined()));
  });
});
