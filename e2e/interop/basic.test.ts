import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { ONE_STORE } from '../flows/flow.ts';
import { curl, python, wget } from './programs.ts';
import { ALICE, identity, JASON, startSite } from './site.ts';
import type { Site } from './site.ts';

/** Basic (RFC 7617) with third-party clients. */
const PEOPLE = [ALICE, JASON];
const WRONG = { ...ALICE, password: 'correct horse' };

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(kind);
  });
  afterAll(async () => site[Symbol.asyncDispose]());
  const url = () => site.url('basic');
  const user = ({ name, password }: typeof ALICE) => ['--user', `${name}:${password}`];

  describe('curl', () => {
    test.each(PEOPLE)('$name is admitted without a challenge and after one', async (person) => {
      const body = identity('Basic', 'basic', person);
      expect(await curl(...user(person), url())).toMatchObject({ statuses: [200], body });
      const asked = await curl('--anyauth', ...user(person), url());
      expect(asked).toMatchObject({ statuses: [401, 200], body });
    });

    test('GET, HEAD and POST are admitted', async () => {
      const head = await curl(...user(ALICE), '--head', url());
      expect(head).toMatchObject({ statuses: [200], body: '' });
      const post = await curl(...user(ALICE), '--data', 'content', url());
      expect(post).toMatchObject({ statuses: [200], body: identity('Basic', 'basic') });
    });

    test('section 2: a wrong password gets 401 with a challenge that names UTF-8', async () => {
      const { statuses, fields } = await curl(...user(WRONG), url());
      expect(statuses).toEqual([401]);
      expect(fields.get('www-authenticate')).toEqual(['Basic realm="basic", charset="UTF-8"']);
    });

    test('user and password in the URL are used by the client and are not part of the target', async () => {
      const { name, password } = ALICE;
      const secret = encodeURIComponent(password);
      const withUser = url().replace('://', `://${name}:${secret}@`);
      const body = identity('Basic', 'basic');
      expect(await curl(withUser)).toMatchObject({ statuses: [200], body });
      for (const more of [[], user(ALICE)]) {
        const { statuses, fields } = await curl(...more, '--request-target', withUser, url());
        expect(statuses).toEqual([400]);
        expect(fields.has('www-authenticate')).toBe(false);
      }
      expect(site.pair.resources[0]?.log).not.toContain(secret);
      expect(site.pair.resources[0]?.log).not.toContain(password);
    });
  });

  describe('wget', () => {
    const login = ({ name, password }: typeof ALICE) => [
      `--user=${name}`,
      `--password=${password}`,
    ];

    test.each(PEOPLE)('$name is admitted after a challenge and without one', async (person) => {
      const body = identity('Basic', 'basic', person);
      expect(await wget(...login(person), url())).toEqual({ statuses: [401, 200], body });
      const unasked = await wget(...login(person), '--auth-no-challenge', url());
      expect(unasked).toEqual({ statuses: [200], body });
    });

    test('a wrong password gets 401', async () => {
      expect(await wget(...login(WRONG), url())).toMatchObject({ statuses: [401, 401] });
    });
  });

  describe.each(['requests', 'httpx'] as const)('python: %s', (library) => {
    const ask = (person: typeof ALICE) =>
      python(library, {
        scheme: 'basic',
        ...person,
        requests: [
          ['GET', url()],
          ['POST', url(), 'content'],
        ],
      });

    test.each(PEOPLE)('$name is admitted with two requests', async (person) => {
      const body = identity('Basic', 'basic', person);
      const answer = { statuses: [200], body, nc: null };
      expect(await ask(person)).toEqual([answer, answer]);
    });

    test('a wrong password gets 401', async () => {
      expect(await ask(WRONG)).toMatchObject([{ statuses: [401] }, { statuses: [401] }]);
    });
  });

  describe('undici', () => {
    const ask = async (userPass: Buffer) => {
      const authorization = `Basic ${userPass.toString('base64')}`;
      const { statusCode, body } = await request(url(), { headers: { authorization } });
      return { status: statusCode, body: await body.text() };
    };

    test.each(PEOPLE)('$name is admitted', async ({ name, password }) => {
      const body = identity('Basic', 'basic', { name, password });
      expect(await ask(Buffer.from(`${name}:${password}`))).toEqual({ status: 200, body });
    });

    test('section 2.1: the same name in ISO-8859-1 is refused, because charset names UTF-8', async () => {
      const { name, password } = JASON;
      const userPass = Buffer.from(`${name}:${password}`, 'latin1');
      expect(await ask(userPass)).toMatchObject({ status: 401 });
    });
  });
});
