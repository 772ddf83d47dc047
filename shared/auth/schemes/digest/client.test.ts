import { expect, test } from '@jest/globals';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { digestCredentials } from './client.ts';

const CHALLENGE = {
  realm: 'http-auth@example.org',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  opaque: 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS',
};
const REQUEST = {
  name: 'Mufasa',
  password: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  qop: 'auth',
  count: 1,
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
} as const;
const paramsOf = (authorization: string) => parseChallenges(authorization)?.[0]?.params;

test.each([
  ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
  ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
])('RFC 7616 section 3.9.1: the client makes the credentials for %s', (algorithm, response) => {
  const { authorization } = digestCredentials({ ...CHALLENGE, algorithm }, REQUEST);
  expect(authorization).toContain('qop=auth,');
  expect(authorization).toContain('nc=00000001,');
  expect(paramsOf(authorization)).toEqual({
    ...CHALLENGE,
    algorithm,
    username: 'Mufasa',
    uri: REQUEST.uri,
    nc: '00000001',
    cnonce: REQUEST.cnonce,
    qop: 'auth',
    response,
  });
});

test('RFC 7616 section 3.4.3: with auth-int the response depends on the content of the request, and rspauth on the content of the answer', () => {
  const signed = (content: string) =>
    digestCredentials(
      { ...CHALLENGE, algorithm: 'SHA-256' },
      { ...REQUEST, qop: 'auth-int', content },
    );
  expect(signed('a').authorization).not.toBe(signed('b').authorization);
  expect(signed('a').rspauth('c')).not.toBe(signed('a').rspauth('d'));
  expect(signed('a').rspauth('c')).toBe(signed('b').rspauth('c'));
});

test('RFC 9110 section 5.6.4: a quote in a realm does not end the value', () => {
  const realm = 'a"\\, x="y';
  const { authorization } = digestCredentials({ ...CHALLENGE, realm, algorithm: 'MD5' }, REQUEST);
  expect(paramsOf(authorization)?.['realm']).toBe(realm);
});
