import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { DIRECTORY_TYPE } from '#shared/private-token/issuer-directory.ts';
import { fetchDirectory } from './fetch-directory.ts';
import { type Answers, endless, startIssuer, trusting, WRONG } from './issuer.fixture.ts';
import { openSend, type Send } from '#shared/client/send.ts';

const URL_PATH = '/.well-known/private-token-issuer-directory';
const DOCUMENT = { 'issuer-request-uri': '/request', 'token-keys': [] };

const answering =
  (content: string, fields: Readonly<Record<string, string | string[]>> = {}): Answers =>
  (response) => {
    response.writeHead(200, { 'Content-Type': DIRECTORY_TYPE, ...fields }).end(content);
  };
const good = answering(JSON.stringify(DOCUMENT));

async function fetched(answers: Answers, send: Send = trusting()) {
  await using issuer = await startIssuer(answers);
  return await fetchDirectory(send, issuer.origin + URL_PATH);
}

describe('RFC 9578 section 4: the directory over HTTPS', () => {
  test('the directory is requested and accepted as JSON of its media type', async () => {
    await using issuer = await startIssuer(good);
    const { document } = await fetchDirectory(trusting(), issuer.origin + URL_PATH);
    expect(document).toEqual(DOCUMENT);
    expect(issuer.asked[0]).toMatchObject({
      method: 'GET',
      url: URL_PATH,
      headers: { accept: DIRECTORY_TYPE },
    });
  });

  test.each([
    ['in another letter case', DIRECTORY_TYPE.toUpperCase()],
    ['with a parameter', `${DIRECTORY_TYPE} ; charset=utf-8`],
  ])('the media type of the directory may be written %s', async (_how, type) => {
    const answers = answering(JSON.stringify(DOCUMENT), { 'Content-Type': type });
    expect((await fetched(answers)).document).toEqual(DOCUMENT);
  });

  test.each(['application/json', '', `${DIRECTORY_TYPE}s`, `text/html, ${DIRECTORY_TYPE}`])(
    'a directory with the media type %j is refused',
    async (type) => {
      const answers = answering(JSON.stringify(DOCUMENT), { 'Content-Type': type });
      await expect(fetched(answers)).rejects.toThrow('media type');
    },
  );

  test('a directory that is not JSON is undefined, and no log message repeats it', async () => {
    expect((await fetched(answering('{"token-keys":'))).document).toBeUndefined();
  });

  test.each(Object.entries(WRONG))(
    'an issuer that %s gives no directory',
    async (_what, answers) => {
      await expect(fetched(answers)).rejects.toThrow(
        /answered|other side closed|terminated|aborted/,
      );
    },
  );
});

describe('attacks on the connection and by a malicious issuer', () => {
  test.each([301, 302, 303, 307, 308])(
    'a redirect of the directory is not followed: %i',
    async (status) => {
      await using elsewhere = await startIssuer(good);
      const location = elsewhere.origin + URL_PATH;
      const answers: Answers = (response) =>
        void response.writeHead(status, { location, 'Content-Type': DIRECTORY_TYPE }).end('{}');
      await expect(fetched(answers)).rejects.toThrow(`answered ${status}`);
      expect(elsewhere.asked).toEqual([]);
    },
  );

  test('an endless directory is an error after 64 KiB', async () => {
    const { answers, ended } = endless(DIRECTORY_TYPE);
    await expect(fetched(answers)).rejects.toThrow('longer than 65536 bytes');
    await ended;
  });

  test.each([
    [65_536, true],
    [65_537, false],
  ])('whether a directory of %i bytes is accepted: %p', async (length, taken) => {
    const text = JSON.stringify(DOCUMENT).padEnd(length);
    const outcome = fetched(answering(text)).then(
      () => true,
      () => false,
    );
    expect(await outcome).toBe(taken);
  });

  test.each<[string, Answers]>([
    ['answers nothing', () => {}],
    [
      'begins and does not go on',
      (response) => void response.setHeader('Content-Type', DIRECTORY_TYPE).write('{'),
    ],
  ])('a request to an issuer that %s ends in a timeout', async (_what, answers) => {
    await expect(fetched(answers, trusting(100))).rejects.toThrow(/timeout/i);
  });

  test('an issuer with an untrusted certificate gets no request', async () => {
    await using issuer = await startIssuer(good);
    const url = issuer.origin + URL_PATH;
    await expect(fetchDirectory(openSend(), url)).rejects.toThrow(/self.signed/);
    expect(issuer.asked).toEqual([]);
  });

  test('an issuer with a certificate for another name gets no request', async () => {
    await using issuer = await startIssuer(good);
    const url = issuer.origin.replace('localhost', '127.0.0.1') + URL_PATH;
    await expect(fetchDirectory(trusting(), url)).rejects.toThrow(/altnames/);
    expect(issuer.asked).toEqual([]);
  });
});

/** Computes the freshness for these fields, without a server. */
async function maxAge(fields: Readonly<Record<string, string>>): Promise<number> {
  const found = await fetchDirectory(
    async () => ({
      status: 200,
      fields: { 'content-type': DIRECTORY_TYPE, ...fields },
      body: Buffer.from('{}'),
    }),
    'https://issuer.example/',
  );
  return found.maxAge;
}

describe('RFC 9111 section 4.2: freshness', () => {
  test.each([
    ['public, max-age=600', 600],
    ['MAX-AGE=600', 600],
    ['max-age="600"', 600],
    ['max-age=600, max-age=60', 60],
    ['max-age=0', 1],
    ['no-store', 1],
    ['max-age=600, no-cache', 1],
    ['max-age=99999999999999999999999', 86_400],
    ['s-maxage=600', 300],
    ['x-max-age=600', 300],
    ['max-age=', 300],
    ['max-age=-5', 300],
    ['', 300],
  ])('a directory with %j is fresh for %i seconds', async (value, seconds) => {
    expect(await maxAge({ 'cache-control': value })).toBe(seconds);
  });

  test('a directory is fresh for five minutes by default', async () => {
    expect(await maxAge({})).toBe(300);
  });

  test.each([
    ['100', 500],
    ['700', 1],
    ['-700', 600],
    ['x', 600],
  ])('section 5.1: an Age of %s seconds is subtracted from the freshness', async (age, seconds) => {
    expect(await maxAge({ 'cache-control': 'max-age=600', age })).toBe(seconds);
  });

  test('the freshness is between a second and a day for any fields', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.nat(), async (control, age, number) => {
        for (const value of [control, `max-age=${control}`, `max-age=${number}`]) {
          const seconds = await maxAge({ 'cache-control': value, age });
          expect(seconds).toBeGreaterThanOrEqual(1);
          expect(seconds).toBeLessThanOrEqual(86_400);
        }
      }),
    );
  });
});
