import { createHash, createPublicKey, verify } from 'node:crypto';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseResult } from './result.ts';
import { toBeSigned } from './to-be-signed.ts';

/** The key of RFC 7486 appendix B, whose PEM body is written in base64url. */
const SPKI = `MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAviE8fMrGIPZN9up94M28
6o38B99fsz5cUqYHXXJlnHIi6gGKjqLgn3P7n4snUSQswLExrkhSr0TPhRDuPH_t
fXLKLBbh17ofB7t7shnPKxmyZ69hCLbe7pB1HvaBzTxPC2KOqskDiDBOQ6-JLHQ8
egXB14W-641RQt0CsC5nXzo92kPCdV4NZ45MW0ws3twCIUDCH0nibIG9SorrBbCl
DPHQZS5Dk5pgS7P5hrAr634Zn4bzXhUnm7cON2x4rv83oqB3lRqjF4T9exEMyZBS
L26m5KbK860uSOKywI0xp4ymnHMc6Led5qfEMnJC9PEI90tIMcgdHrmdHC_vpldG
DQIDAQAB`;
const KID = 'vesscamS2Kze4FFOg3e2UyCJPhuQ6_3_gzN-k_L6t3w';
const CHALLENGE = 'pUE77w0LylHypHKhBqAiQHuGC751GiOVv4/7pSlo9jc=';
const NONCE = 'Pm3yUW-sW5Q';
const SIGNATURE = `VD-0LGVBVEVjfq4xEd35FjnOrIqzJ2OQMx5w8E52dgVvxFD6R0ryEsHcD31ykh0i
4YIzIHXirx7bE4x9yP-9fMBCEwnHJsYwYQhfRpmScwAz-Ih1Hn4yORTb-U66miUz
q04ZgTHm4jAj45afU20wYpGXY2r3W-FRKc6J6Glv_zI_ROghERalxgXG-QVGZrKP
tG0V593Yf9IPnFSpLyW6fnxscCMWUA9T-4NjMdypI-Ze4HsC9J06tRTOunQdofr9
6ZJ2i9LE6uKSUDLCD2oeEeSEvUR--4OGtrgjzYysHZkdVSxAi7OoQBK34EUWg9kI
S13qQA43m4IMExkbApqrSg`;

const der = Buffer.from(SPKI, 'base64url');
const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
const signature = Buffer.from(SIGNATURE, 'base64url');
const signed = { kid: KID, challenge: CHALLENGE, nonce: NONCE, origin: 'https://example.com' };

test('RFC 7486 appendix B: the signature of the example verifies over the octets that we compute', () => {
  expect(toBeSigned(signed).toString()).toBe(
    `11:${NONCE}1:023:https://example.com:4430:43:${KID}44:${CHALLENGE}`,
  );
  expect(verify('sha256', toBeSigned(signed), key, signature)).toBe(true);
  for (const other of [
    { origin: 'https://example.com:8443' },
    { kid: KID.replace('v', 'w') },
    { nonce: NONCE.toLowerCase() },
    { challenge: CHALLENGE.slice(0, -1) },
  ]) {
    expect(verify('sha256', toBeSigned({ ...signed, ...other }), key, signature)).toBe(false);
  }
});

test("the RFC's example has two faults: its challenge is no base64url, and its kid is not the hash of the key", () => {
  const parts = [KID, CHALLENGE, NONCE, SIGNATURE.replaceAll('\n', '')];
  expect(parseResult(parts.join('.'))).toBeUndefined();
  expect(parseResult(parts.join('.').replace('/', '_').replace('=', ''))).toMatchObject({
    kid: KID,
    nonce: NONCE,
    signature,
  });
  expect(createHash('sha256').update(der).digest('base64url')).not.toBe(KID);
});

test('RFC 7486 section 2: the port is always written, and lengths are in octets', () => {
  const at = (origin: string) => toBeSigned({ ...signed, nonce: 'ö', origin }).toString();
  expect(at('https://example.com')).toContain('2:ö1:023:https://example.com:4430:');
  expect(at('https://www.example.com:8080')).toContain('28:https://www.example.com:80800:');
  expect(at('https://[::1]')).toContain('17:https://[::1]:4430:');
});

test('RFC 7486 section 8.4: signed octets have a single meaning', () => {
  const field = fc.stringMatching(/^[0-9A-Za-z_:=.-]{1,20}$/);
  const fields = fc.record({ kid: field, challenge: field, nonce: field });
  fc.assert(
    fc.property(fields, fields, (one, two) => {
      const same = JSON.stringify(one) === JSON.stringify(two);
      const { origin } = signed;
      const equal = toBeSigned({ ...one, origin }).equals(toBeSigned({ ...two, origin }));
      expect(equal).toBe(same);
    }),
  );
});
