import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sentBy } from '../clients/digest/answers.fixture.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import type { HttpRequest, HttpResponse } from '../clients/digest/exchange.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  asked,
  authorization,
  field,
  get,
  inTurn,
  lastOf,
  post,
  startAttackedPair,
  UNLIMITED,
  converse,
  withAuthorization,
} from './attacked-pair.fixture.ts';
import type { Somebody, AttackedPair } from './attacked-pair.fixture.ts';

/** Credentials for one use, used again: at the other process, in another order, and ten times at once. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let attacked: AttackedPair;
  let who: Somebody;
  beforeAll(async () => {
    attacked = await startAttackedPair(kind, { credentials: UNLIMITED, signIn: UNLIMITED });
    who = await attacked.newcomer();
  });
  afterAll(() => attacked[Symbol.asyncDispose]());

  const send = (request: HttpRequest, server: number) => attacked.send(server)(request);
  /** Sends the request to one server, then to the other. */
  const atBoth = async (request: HttpRequest) => [await send(request, 0), await send(request, 1)];
  const expectRefused = (answers: readonly HttpResponse[]) => {
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      // A client that gets `stale` tries again without asking its user (RFC 7616 section 3.3).
      expect(asked(answer, 'stale')).toBeUndefined();
    }
  };
  /** The number of admitted requests. */
  const passed = (answers: readonly HttpResponse[]) => {
    const refused = answers.filter((answer) => answer.status !== 200);
    expectRefused(refused);
    return answers.length - refused.length;
  };

  describe('Digest (RFC 7616 section 5.5)', () => {
    /** Makes requests with these nc in one session, without sending them. */
    async function requests(counts: readonly number[]): Promise<HttpRequest[]> {
      let nc = '00000001';
      const client = digestClient({ ...who, prepare: (claims) => ({ ...claims, nc }) });
      const first = await converse(client, get('digest'), attacked.send(0));
      expect(first.answer.status).toBe(200);
      const prepared: HttpRequest[] = [];
      for (const count of counts) {
        nc = count.toString(16).padStart(8, '0');
        prepared.push(await sentBy(client.exchange(get('digest'))));
      }
      return prepared;
    }

    test('both servers refuse an nc that one server has accepted, without calling it stale', async () => {
      const first = await converse(digestClient(who), get('digest'), attacked.send(0));
      expect(first.answer.status).toBe(200);
      expectRefused(await atBoth(lastOf(first)));
    });

    test('auth-int is no exception: the same nc is refused', async () => {
      const granted = await converse(
        digestClient(who),
        post('integrity', 'pay 1'),
        attacked.send(1),
      );
      expect(granted.answer.status).toBe(200);
      expectRefused(await atBoth(lastOf(granted)));
    });

    test('ten requests with one nc at once at two servers: one is admitted', async () => {
      for (let round = 0; round < 3; round += 1) {
        const [request] = await requests([2]);
        const all = Array.from({ length: 10 }, () => request as HttpRequest);
        expect(passed(await inTurn(all, send))).toBe(1);
      }
    });

    test('twenty nc at once at two servers are admitted in any order, once each', async () => {
      const counts = Array.from({ length: 20 }, (_, index) => 2 + ((index * 7) % 20));
      const all = await requests(counts);
      expect(passed(await inTurn(all, send))).toBe(20);
      expect(passed(await inTurn(all.toReversed(), send))).toBe(0);
    });

    test('an nc below the highest is accepted within the window only, and only once', async () => {
      const all = await requests([300, 300, 173, 172, 2, 299, 0xffffffff, 301]);
      const answers = [];
      for (const [index, request] of all.entries()) answers.push(await send(request, index % 2));
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 200, 401, 401, 200, 200, 401]);
      expectRefused(answers.filter(({ status }) => status !== 200));
    });
  });

  describe.each(['SHA-256', 'SHA-1'] as const)('SCRAM-%s (RFC 7804 section 8)', (hash) => {
    const realm = `scram-${hash === 'SHA-1' ? 1 : 256}` as const;
    /** Sends a client's messages alternately to both servers. */
    const alternating = () => {
      let count = 0;
      return (request: HttpRequest) => send(request, (count += 1) % 2);
    };

    test('the messages of one exchange may go to different processes, and the last message is accepted once', async () => {
      const client = scramClient({ ...who, hash });
      const granted = await converse(client, get(realm), alternating());
      expect([granted.answer.status, granted.sent.length]).toEqual([200, 3]);
      expectRefused(await atBoth(lastOf(granted)));
    });

    test('ten last messages at once at two servers: one is admitted', async () => {
      const client = scramClient({ ...who, hash, unprompted: true });
      const exchange = client.exchange(get(realm));
      const final = await sentBy(exchange, await send(await sentBy(exchange), 0));
      const all = Array.from({ length: 10 }, () => final);
      expect(passed(await inTurn(all, send))).toBe(1);
    });

    test('a wrong last message ends its exchange, and the right one is refused afterwards', async () => {
      const client = scramClient({ ...who, hash, unprompted: true });
      const exchange = client.exchange(get(realm));
      const final = await sentBy(exchange, await send(await sentBy(exchange), 0));
      const wrong = withData(final, (message) =>
        message.replace(/(?<=,p=)./, (first) => (first === 'A' ? 'B' : 'A')),
      );
      expectRefused([await send(wrong, 1), await send(final, 0)]);
    });

    test('the proof of one exchange is refused under the sid of another', async () => {
      const finals = [];
      for (const server of [0, 1]) {
        const exchange = scramClient({ ...who, hash, unprompted: true }).exchange(get(realm));
        const first = await sentBy(exchange);
        finals.push(await sentBy(exchange, await send(first, server)));
      }
      const sids = finals.map((one) => /sid=([^,]+)/.exec(authorization(one))?.[1] ?? '');
      expect(sids[0]).not.toBe(sids[1]);
      const swapped = finals.map((one, index) =>
        withAuthorization(one, authorization(one).replace(/sid=[^,]+/, `sid=${sids[1 - index]}`)),
      );
      expectRefused(await inTurn(swapped, send));
    });

    test('reauthentication works at the other process, once (section 5.1)', async () => {
      const client = scramClient({ ...who, hash });
      const visits = [];
      for (const server of [0, 1, 0]) {
        visits.push(await converse(client, get(realm), attacked.send(server)));
      }
      expect(visits.map(({ answer, sent }) => [answer.status, sent.length])).toEqual([
        [200, 3],
        [200, 1],
        [200, 1],
      ]);
      for (const again of visits.slice(1)) expectRefused(await atBoth(lastOf(again)));
    });

    test('ten reauthentications at once at two servers: one is admitted', async () => {
      const client = scramClient({ ...who, hash });
      await converse(client, get(realm), attacked.send(0));
      const again = await sentBy(client.exchange(get(realm)));
      const all = Array.from({ length: 10 }, () => again);
      expect(passed(await inTurn(all, send))).toBe(1);
    });
  });

  describe('API keys', () => {
    const withKey = (key: string) => get('keys', [['X-API-Key', key]]);

    test('all processes share the limit of a key, and another key has its own', async () => {
      const [{ key }, other] = [await attacked.newKey('keys'), await attacked.newKey('keys')];
      const all = Array.from({ length: 24 }, () => withKey(key));
      const answers = await inTurn(all, send);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        ...Array.from({ length: 10 }, () => 200),
        ...Array.from({ length: 14 }, () => 429),
      ]);
      for (const answer of answers) {
        expect(field(answer, 'RateLimit-Policy')).toBe('"api-key";q=10;w=6000');
        expect(field(answer, 'RateLimit')).toMatch(/^"api-key";r=[0-9];t=[1-9][0-9]*$/);
        if (answer.status === 429) expect(Number(field(answer, 'Retry-After'))).toBeGreaterThan(0);
      }
      expect((await atBoth(withKey(other.key))).map(({ status }) => status)).toEqual([200, 200]);
    });
  });
});

/** Replaces the message in the `data` of SCRAM. */
function withData(request: HttpRequest, edit: (message: string) => string): HttpRequest {
  const changed = authorization(request).replace(/(?<=data=")[^"]*/, (data) =>
    Buffer.from(edit(Buffer.from(data, 'base64').toString())).toString('base64'),
  );
  return withAuthorization(request, changed);
}
