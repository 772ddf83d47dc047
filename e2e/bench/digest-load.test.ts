import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { parseChallenges, valueOf } from '../clients/digest/challenges.ts';
import { digestLoad } from './digest-load.ts';
import type { HttpRequest } from './requests.ts';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

const PASSWORD = 'secret';

/** A response of Digest with MD5 for this password. */
function responseTo(params: (name: string) => string, password: string, method: string): string {
  const middle = ['nonce', 'nc', 'cnonce', 'qop'].map(params).join(':');
  return md5(`${md5(`alice:r:${password}`)}:${middle}:${md5(`${method}:/small`)}`);
}

function paramsOf(credentials = ''): (name: string) => string {
  const [found] = parseChallenges([credentials]);
  return (name) => valueOf(found?.params ?? [], name) ?? '';
}

/** A Digest server with the nonces n1, n2, ... */
function server() {
  let nonces = 0;
  return createServer((request, response) => {
    const params = paramsOf(request.headers.authorization ?? 'None');
    if (params('nonce') === '') {
      nonces += 1;
      const challenge = `Digest realm="r", nonce="n${nonces}", algorithm=MD5, qop="auth"`;
      response.writeHead(401, { 'WWW-Authenticate': challenge });
    } else {
      const info = `nc=${params('nc')}, cnonce="${params('cnonce')}", qop=auth`;
      const rspauth = responseTo(params, PASSWORD, '');
      response.setHeader('Authentication-Info', `rspauth="${rspauth}", ${info}`);
    }
    response.end();
  }).listen(0, '127.0.0.1');
}

test('RFC 7616 section 3.4: each client counts the uses of its own nonce, and no response is repeated', async () => {
  await using origin = server();
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  const load = digestLoad({
    url: `http://127.0.0.1:${port}`,
    path: '/small',
    username: 'alice',
    password: PASSWORD,
    algorithm: 'MD5',
    clients: 2,
    perSecond: 4,
  });
  const read = ({ method, path, fields }: HttpRequest) => {
    expect([method, path]).toEqual(['GET', '/small']);
    return paramsOf(fields['Authorization']);
  };

  const sent = (await load.take(1)).map(read);
  expect(sent.map((params) => `${params('nonce')} ${params('nc')}`)).toEqual([
    'n1 00000002',
    'n2 00000002',
    'n1 00000003',
    'n2 00000003',
  ]);
  for (const params of sent) {
    expect(params('response')).toBe(responseTo(params, PASSWORD, 'GET'));
  }

  const forged = read(await load.forged());
  expect(forged('nonce')).toBe('n3');
  expect(forged('response')).not.toBe(responseTo(forged, PASSWORD, 'GET'));
  expect(forged('response')).toBe(responseTo(forged, `${PASSWORD}!`, 'GET'));
});
