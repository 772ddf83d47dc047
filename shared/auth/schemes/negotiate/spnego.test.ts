import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readClientToken } from './spnego.ts';
import { der } from '#shared/base/der.ts';
import * as client from './token.fixture.ts';

const { IAKERB, KERBEROS, KERBEROS_OF_WINDOWS, NTLM, NTLM_MESSAGE } = client;
const request = client.kerberosToken('secret');
const authenticator = Buffer.from('secret');

describe('a first message (RFC 4178 section 4.2.1)', () => {
  test.each([
    ['Kerberos in SPNEGO', client.negTokenInit([KERBEROS], request)],
    ['Windows', client.negTokenInit([KERBEROS_OF_WINDOWS, KERBEROS, NTLM], request)],
    ['of a handshake in three', client.negTokenInit([KERBEROS], client.apReq('secret'))],
    ['Kerberos alone (RFC 4121 section 4.1)', request],
  ])('the authenticator is found in %s', (_what, token) => {
    expect(readClientToken(token)).toEqual({ first: true, authenticator });
  });

  test.each([
    ['without a token', client.negTokenInit([KERBEROS])],
    ['Kerberos as second choice', client.negTokenInit([NTLM, KERBEROS], NTLM_MESSAGE)],
    [
      'a request for a mechanism that is not Kerberos',
      client.negTokenInit([NTLM, KERBEROS], request),
    ],
    ['not a request (RFC 4121 section 4.1)', client.kerberosToken('secret', Buffer.of(2, 0))],
    [
      'something behind the request',
      client.negTokenInit([KERBEROS], Buffer.concat([request, NTLM])),
    ],
  ])('a message without a Kerberos request has no authenticator: %s', (_what, token) => {
    expect(readClientToken(token)).toEqual({ first: true });
  });

  test('wrapping the same request again does not change its authenticator', () => {
    const wrapped = [
      request,
      client.negTokenInit([KERBEROS], request),
      client.negTokenInit([KERBEROS, NTLM], request),
      client.negTokenInit([KERBEROS], client.apReq('secret')),
      client.negTokenResp(request),
    ].map(readClientToken);
    for (const one of wrapped) expect(one).toMatchObject({ authenticator });
  });
});

describe('a later message (RFC 4178 section 4.2.2)', () => {
  test('a later message is read with a request and without', () => {
    expect(readClientToken(client.negTokenResp(request))).toEqual({ first: false, authenticator });
    expect(readClientToken(client.negTokenResp())).toEqual({ first: false });
  });
});

describe('refused messages', () => {
  test.each([
    ['raw', NTLM_MESSAGE],
    ['in SPNEGO', client.negTokenInit([NTLM], NTLM_MESSAGE)],
    ['in SPNEGO beside a mechanism that is not Kerberos', client.negTokenInit([IAKERB, NTLM])],
  ])('NTLM is recognized: %s', (_what, token) => {
    expect(readClientToken(token)).toBe('ntlm');
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['IAKERB, which would make us ask other servers', der(0x60, IAKERB, Buffer.of(5, 1))],
    ['IAKERB in SPNEGO', client.negTokenInit([IAKERB])],
    ['no mechanisms', client.negTokenInit([])],
    ['no frame', client.apReq('secret')],
    ['something behind', Buffer.concat([request, Buffer.of(0)])],
    ['a later message with members twice', der(0xa1, der(0x30, NTLM, NTLM))],
  ])('an unknown message is refused: %s', (_what, token) => {
    expect(readClientToken(token)).toBe('unknown');
  });

  test('a message truncated at any place is refused', () => {
    for (const token of [client.negTokenInit([KERBEROS, NTLM], request), request]) {
      for (let length = 0; length < token.length; length += 1) {
        expect(readClientToken(token.subarray(0, length))).toBe('unknown');
      }
    }
  });

  test('a message with any byte changed is read or refused, without an exception', () => {
    const token = client.negTokenInit([KERBEROS, NTLM], request);
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(token);
        changed[at] = byte;
        expect(['string', 'object']).toContain(typeof readClientToken(changed));
      }),
      { numRuns: 1000 },
    );
  });

  test('any bytes are read or refused, without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (any) => {
        expect(['unknown', 'ntlm']).toContain(readClientToken(Buffer.from(any)));
      }),
    );
  });
});
