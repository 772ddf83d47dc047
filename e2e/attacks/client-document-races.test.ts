import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import {
  documentServer,
  type DocumentServer,
  webDocument,
} from '#shared/client-documents/document-server.fixture.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { CALLBACK, sent, testFlow } from '../../authz-server/integration/code-flow.fixture.ts';
import type { TestFlow } from '../../authz-server/integration/code-flow.fixture.ts';
import { STORE_KINDS, startStore } from '../flows/flow.ts';
import { until } from '../parts/process.ts';

const NOTES = 'https://api.example/notes/';
const SPACES = [
  {
    url: NOTES,
    realm: 'notes',
    schemes: ['Bearer'],
    scopes: { safe: ['notes:read'] },
    documentClients: ['notes:read'],
  },
];
const PLENTY = { burst: 1000, per: 1 };

const tenTimes = <T>(work: (turn: number) => Promise<T>) =>
  Promise.all(Array.from({ length: 10 }, (_, turn) => work(turn)));

let site: DocumentServer;
beforeAll(async () => {
  site = await documentServer();
});
afterAll(async () => site[Symbol.asyncDispose]());

/** Clients by their documents, ten requests at once. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let flow: TestFlow;
  let clock: ManualClock;
  let clientId: string;
  let made = 0;

  beforeAll(async () => {
    clock = new ManualClock(Date.now());
    const limits = { account: PLENTY, signIn: PLENTY };
    const settings = { spaces: SPACES, limits, ...(await startStore(kind, parts)) };
    flow = parts.use(await testFlow(settings, clock));
  });
  afterAll(() => parts.disposeAsync());
  beforeEach(() => {
    clock.advance(30); // the limits of fetches
    clientId = describeClient();
  });

  function describeClient(): string {
    const id = `${site.origin}/client-${(made += 1)}.json`;
    describeIt(id);
    return id;
  }
  function describeIt(id: string, members: object = {}): void {
    const document = webDocument(id, { redirect_uris: [CALLBACK], ...members });
    site.documents.set(new URL(id).pathname, document);
  }

  const request = (client_id = clientId) => ({ client_id, scope: 'notes:read', resource: NOTES });
  const authorize = () => flow.authorize(request());
  const redeem = (code: string, client_id = clientId) =>
    flow.redeem(code, { client_id, redirect_uri: CALLBACK });
  const grants = async () => {
    const { stores } = flow;
    const store = { stores, clock, random: systemRandom, longestLife: 600 };
    const all = await listAccess(store, flow.accountId);
    return all.filter((access) => access.clientId === clientId);
  };

  test('one code, for two clients with one redirect URI: one use by its own succeeds', async () => {
    const other = describeClient();
    const browser = await flow.signedIn();
    await flow.allow(browser, request(other));
    const answer = await flow.allow(browser, request());
    const code = answer.get('code') ?? '';
    const answers = await tenTimes((turn) => redeem(code, turn % 2 ? clientId : other));
    const winners = answers.flatMap(({ status }, turn) => (status === 200 ? turn % 2 : []));
    expect(winners).toEqual([1]);
  });

  test('a client that nobody knows is allowed in ten browsers: it is one client', async () => {
    const browsers = await tenTimes(() => flow.signedIn());
    const pages = await tenTimes((turn) => browsers[turn]!.open(authorize()));
    const answers = await tenTimes((turn) =>
      browsers[turn]!.submit(pages[turn]!, { decision: 'allow' }),
    );
    const redeemed = await tenTimes((turn) => redeem(sent(answers[turn]!).get('code') ?? ''));
    expect(redeemed.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const slice = await flow.stores.clients.list();
    expect(slice.filter(({ client_id }) => client_id === clientId)).toHaveLength(1);
  });

  test('a decision about a changed client, sent ten times: one grant, and the old one has ended', async () => {
    const browser = await flow.signedIn();
    await flow.allow(browser, request());
    const [before] = await grants();
    describeIt(clientId, { client_name: 'Other' });
    clock.advance(31);
    await flow.browser().open(authorize());
    await until(async () => (await flow.stores.clients.get(clientId))?.client_name === 'Other');
    const page = await browser.open(authorize());
    expect(page.text).toContain('Allow access');
    const answers = await tenTimes(() => browser.submit(page, { decision: 'allow' }));
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    const after = await grants();
    expect(after).toHaveLength(1);
    expect(after[0]?.grantId).not.toBe(before?.grantId);
  });
});
