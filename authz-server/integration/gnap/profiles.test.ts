import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { interactionHash } from '#shared/gnap/interaction-hash.ts';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { signIn } from '../device/device.fixture.ts';
import { type GnapFlow, NONCE, openGnap, READ, REDIRECT, type Told } from './gnap.fixture.ts';

const SUBJECT = { subject: { sub_id_formats: ['opaque'], assertion_formats: ['id_token'] } };
const key = testKey('ps', 'PS256');

const hashOf = (gnap: GnapFlow, asked: Told, interactRef: string) =>
  interactionHash({
    clientNonce: NONCE,
    serverNonce: asked.body.interact.finish,
    interactRef,
    grantEndpoint: `${gnap.issuer}/gnap`,
  });

function expectAll(gnap: GnapFlow, { body }: Told): void {
  const { id } = gnap.flow.people.alice;
  expect(body.access_token.access).toEqual(['photos:read']);
  expect(body.subject.sub_ids).toEqual([{ format: 'opaque', id }]);
  expect(decodeJwt(body.subject.assertions[0]?.value ?? '')).toMatchObject({ sub: id });
}

describe('RFC 9635 appendix C: interoperability profiles', () => {
  test('C.1 Web-based Redirection is supported', async () => {
    await using gnap = await openGnap();
    const asked = await gnap.ask({ ...READ, ...SUBJECT, interact: REDIRECT }, key);
    const back = await gnap.allow(asked);
    const interact_ref = back.searchParams.get('interact_ref') ?? '';
    expect(back.searchParams.get('hash')).toBe(hashOf(gnap, asked, interact_ref));
    expectAll(gnap, await gnap.proceed(asked, { interact_ref }, 'POST', key));
  });

  test('C.2 Secondary Device is supported', async () => {
    const told = Promise.withResolvers<unknown>();
    const client = createServer((request, response) => {
      void json(request).then((body) => {
        told.resolve(body);
        response.end();
      });
    });
    await once(client.listen(0, '127.0.0.1'), 'listening');
    const { port } = client.address() as AddressInfo;
    await using gnap = await openGnap({
      gnap: { clients: 'anybody', push: [`127.0.0.1:${port}`] },
    });
    const finish = { method: 'push', uri: `http://127.0.0.1:${port}/push`, nonce: NONCE };
    const interact = { start: ['user_code', 'user_code_uri'], finish };
    const asked = await gnap.ask({ ...READ, ...SUBJECT, interact }, key);
    const { user_code: code, user_code_uri: both } = asked.body.interact;
    expect(both).toEqual({ code, uri: `${gnap.issuer}/device` });
    const browser = gnap.flow.browser();
    const page = await signIn(browser, await browser.open(`/device?user_code=${code}`), 'alice');
    await browser.submit(page, { decision: 'allow' }, new URL(page.url).pathname);
    const { hash, interact_ref } = (await told.promise) as { hash: string; interact_ref: string };
    expect(hash).toBe(hashOf(gnap, asked, interact_ref));
    expectAll(gnap, await gnap.proceed(asked, { interact_ref }, 'POST', key));
    client.close();
  });
});
