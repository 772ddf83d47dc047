import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { certificateThumbprint } from './prove.ts';
import { readKey } from './key.ts';

/** The certificate of RFC 9635 section 7.3.2. */
const EXAMPLE =
  'MIIC6jCCAdKgAwIBAgIGAXjw74xPMA0GCSqGSIb3DQEBCwUAMDYxNDAyBgNVBAMMK05JWU15QmpzRGp5QkM5UDUzN0Q2SVR6a3BEOE50UmppOXlhcEV6QzY2bVEwHhcNMjEwNDIwMjAxODU0WhcNMjIwMjE0MjAxODU0WjA2MTQwMgYDVQQDDCtOSVlNeUJqc0RqeUJDOVA1MzdENklUemtwRDhOdFJqaTl5YXBFekM2Nm1RMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAhYOJ+XOKISdMMShn/G4W9m20mT0VWtQBsmBBkI2cmRt4Ai8BfYdHsFzAtYKOjpBR1RpKpJmVKxIGNy0g6Z3ad2XYsh8KowlyVy8IkZ8NMwSrcUIBZGYXjHpwjzvfGvXH/5KJlnR3/uRUp4Z4Ujk2bCaKegDn11V2vxE41hqaPUnhRZxe0jRETddzsE3mu1SK8dTCROjwUl14mUNo8iTrTm4n0qDadz8BkPo+uv4BC0bunS0K3bA/3UgVp7zBlQFoFnLTO2uWp/muLEWGl67gBq9MO3brKXfGhi3kOzywzwPTuq+cVQDyEN7aL0SxCb3Hc4IdqDaMg8qHUyObpPitDQIDAQABMA0GCSqGSIb3DQEBCwUAA4IBAQBnYFK0eYHy+hVf2D58usj39lhL5znb/q9G35GBd/XsWfCEwHuLOSZSUmG71bZtrOcx0ptle9bp2kKl4HlSTTfbtpuG5onSa3swRNhtKtUy5NH9W/FLViKWfoPS3kwoEpC1XqKY6l7evoTCtS+kTQRSrCe4vbNprCAZRxz6z1nEeCguNMk38yTRvx8ihZpVOuU+Ih+dOtVe/ex5IAPYxlQsvtfhsUZqc7IyCcy72WHnRHlUfn3pJm0S5270+Yls3Iv6h3oBAP19i906UjiUTNH3g0xMW+V4uLxgyckt4wD4MlyvjnaQ7Z3sR6EsXMocAbXHIAJhwKdtU/fLgdwL5vtx';

describe('RFC 9440: Client-Cert', () => {
  test('the example of RFC 9635 section 7.3.2 gives the thumbprint of its key', () => {
    const { thumbprint } = readKey({ proof: 'mtls', cert: EXAMPLE });
    expect(certificateThumbprint([`:${EXAMPLE}:`])).toBe(thumbprint);
    const pem = `-----BEGIN CERTIFICATE-----\n${EXAMPLE.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
    expect(readKey({ proof: 'mtls', cert: pem }).thumbprint).toBe(thumbprint);
    expect(readKey({ proof: { method: 'mtls' }, 'cert#S256': thumbprint })).toEqual({
      proof: 'mtls',
      thumbprint,
    });
  });

  test.each([
    ['no line', []],
    ['an empty one', ['']],
    ['two lines', [`:${EXAMPLE}:`, `:${EXAMPLE}:`]],
    ['two members', [`:${EXAMPLE}:, :${EXAMPLE}:`]],
    ['no colons', [EXAMPLE]],
    ['no octets', ['::']],
    ['a token', ['none']],
    ['PEM', [`-----BEGIN CERTIFICATE-----${EXAMPLE}-----END CERTIFICATE-----`]],
  ])('%s is no certificate', (_what, lines) => {
    expect(certificateThumbprint(lines)).toBeUndefined();
  });
});

test("any line gives a certificate's thumbprint or undefined", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String().map((text) => `:${text}:`),
      ),
      (line) => {
        expect(['string', 'undefined']).toContain(typeof certificateThumbprint([line]));
      },
    ),
  );
});
